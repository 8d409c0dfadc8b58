// The adapters of libraries over MySQL and MariaDB.
import { drizzleOver } from '../adapters/drizzle.ts';
import { knexOver } from '../adapters/knex.ts';
import { kyselyOver } from '../adapters/kysely.ts';
import { prismaOver } from '../adapters/prisma.ts';
import { typeOrmOver } from '../adapters/typeorm.ts';

/**
 * Lets `mysqlInbox` and `mysqlJournal` use the merchant's Drizzle over `mysql2`. `onPayment` gets its own transaction as `tx`; a `tx.transaction()` in it is a savepoint.
 *
 * @throws {ConfigurationError} for a transaction, and for wrong options
 * @example
 * const inbox = mysqlInbox(fromDrizzle(db, { poolSize: 10 }));
 * const journal = mysqlJournal(fromDrizzle(db, { poolSize: 10 }), { scope: 'eu-terminal' });
 * // The whole of it, with its handler: docs/orms/drizzle.md
 */
export const fromDrizzle = drizzleOver('mysql');

/**
 * Lets `mysqlInbox` and `mysqlJournal` use the merchant's Kysely. `onPayment` gets its own transaction as `tx`, in which Kysely begins no other one.
 *
 * @throws {ConfigurationError} for a transaction, and for wrong options
 * @example
 * const inbox = mysqlInbox(fromKysely(db, { poolSize: 10 }));
 * const journal = mysqlJournal(fromKysely(db, { poolSize: 10 }), { scope: 'eu-terminal' });
 * // The whole of it, with its handler: docs/orms/kysely.md
 */
export const fromKysely = kyselyOver('mysql');

/**
 * Lets `mysqlInbox` and `mysqlJournal` use the merchant's Knex, and so Objection's. `onPayment` gets its own transaction as `tx`; a `tx.transaction()` in it is a savepoint.
 *
 * @throws {ConfigurationError} for a transaction, and for wrong options
 * @example
 * const inbox = mysqlInbox(fromKnex(knex, { poolSize: 10 }));
 * const journal = mysqlJournal(fromKnex(knex, { poolSize: 10 }), { scope: 'eu-terminal' });
 * // The whole of it, with its handler: docs/orms/knex.md
 */
export const fromKnex = knexOver('mysql');

/**
 * Lets `mysqlInbox` and `mysqlJournal` use the merchant's Prisma. `onPayment` gets the client of an interactive transaction as `tx`.
 *
 * @throws {ConfigurationError} for a transaction, and for wrong options
 * @example
 * const inbox = mysqlInbox(fromPrisma(prisma, { poolSize: 10 }));
 * const journal = mysqlJournal(fromPrisma(prisma, { poolSize: 10 }), { scope: 'eu-terminal' });
 * // The whole of it, with its handler: docs/orms/prisma.md
 */
export const fromPrisma = prismaOver('mysql');

/**
 * Lets `mysqlInbox` and `mysqlJournal` use the merchant's TypeORM. `onPayment` gets the `EntityManager` of the transaction as `tx`; a `tx.transaction()` in it is a savepoint.
 * The DataSource may be initialised later, before the first call.
 *
 * @throws {ConfigurationError} for a transaction, and for wrong options
 * @example
 * const inbox = mysqlInbox(fromTypeOrm(dataSource));
 * const journal = mysqlJournal(fromTypeOrm(dataSource), { scope: 'eu-terminal' });
 * // The whole of it, with its handler: docs/orms/typeorm.md
 */
export const fromTypeOrm = typeOrmOver('mysql');
