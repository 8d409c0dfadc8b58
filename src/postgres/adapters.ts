// The adapters of libraries over Postgres.
import { drizzleOver } from '../adapters/drizzle.ts';
import { knexOver } from '../adapters/knex.ts';
import { kyselyOver } from '../adapters/kysely.ts';
import { prismaOver } from '../adapters/prisma.ts';
import { typeOrmOver } from '../adapters/typeorm.ts';

/**
 * Lets `postgresInbox` and `postgresJournal` use the merchant's Drizzle over a pool of `pg` or postgres.js. `onPayment` gets its own transaction as `tx`; a `tx.transaction()` in it is a savepoint.
 *
 * @throws {ConfigurationError} for a transaction, and for wrong options
 * @example
 * const inbox = postgresInbox(fromDrizzle(db, { poolSize: 10 }));
 * const journal = postgresJournal(fromDrizzle(db, { poolSize: 10 }), { scope: 'eu-terminal' });
 * // The whole of it, with its handler: docs/orms/drizzle.md
 */
export const fromDrizzle = drizzleOver('postgres');

/**
 * Lets `postgresInbox` and `postgresJournal` use the merchant's Kysely. `onPayment` gets its own transaction as `tx`, in which Kysely begins no other one.
 *
 * @throws {ConfigurationError} for a transaction, and for wrong options
 * @example
 * const inbox = postgresInbox(fromKysely(db, { poolSize: 10 }));
 * const journal = postgresJournal(fromKysely(db, { poolSize: 10 }), { scope: 'eu-terminal' });
 * // The whole of it, with its handler: docs/orms/kysely.md
 */
export const fromKysely = kyselyOver('postgres');

/**
 * Lets `postgresInbox` and `postgresJournal` use the merchant's Knex, and so Objection's. `onPayment` gets its own transaction as `tx`; a `tx.transaction()` in it is a savepoint.
 *
 * @throws {ConfigurationError} for a transaction, and for wrong options
 * @example
 * const inbox = postgresInbox(fromKnex(knex, { poolSize: 10 }));
 * const journal = postgresJournal(fromKnex(knex, { poolSize: 10 }), { scope: 'eu-terminal' });
 * // The whole of it, with its handler: docs/orms/knex.md
 */
export const fromKnex = knexOver('postgres');

/**
 * Lets `postgresInbox` and `postgresJournal` use the merchant's Prisma. `onPayment` gets the client of an interactive transaction as `tx`.
 *
 * @throws {ConfigurationError} for a transaction, and for wrong options
 * @example
 * const inbox = postgresInbox(fromPrisma(prisma, { poolSize: 10 }));
 * const journal = postgresJournal(fromPrisma(prisma, { poolSize: 10 }), { scope: 'eu-terminal' });
 * // The whole of it, with its handler: docs/orms/prisma.md
 */
export const fromPrisma = prismaOver('postgres');

/**
 * Lets `postgresInbox` and `postgresJournal` use the merchant's TypeORM. `onPayment` gets the `EntityManager` of the transaction as `tx`; a `tx.transaction()` in it is a savepoint.
 * The DataSource may be initialised later, before the first call.
 *
 * @throws {ConfigurationError} for a transaction, and for wrong options
 * @example
 * const inbox = postgresInbox(fromTypeOrm(dataSource));
 * const journal = postgresJournal(fromTypeOrm(dataSource), { scope: 'eu-terminal' });
 * // The whole of it, with its handler: docs/orms/typeorm.md
 */
export const fromTypeOrm = typeOrmOver('postgres');
