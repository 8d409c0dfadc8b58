// The adapters of libraries over Postgres.
import { drizzleOver } from '../adapters/drizzle.ts';
import { knexOver } from '../adapters/knex.ts';
import { kyselyOver } from '../adapters/kysely.ts';
import { prismaOver } from '../adapters/prisma.ts';
import { typeOrmOver } from '../adapters/typeorm.ts';

/**
 * Makes a database of Drizzle over `pg` or postgres.js. `tx` is its transaction; `tx.transaction()` in it is a savepoint.
 *
 * @throws {ConfigurationError} for another value, and for wrong options
 */
export const fromDrizzle = drizzleOver('postgres');

/**
 * Makes a database of Kysely. `tx` is its transaction, in which Kysely begins no other one.
 *
 * @throws {ConfigurationError} for another value, and for wrong options
 */
export const fromKysely = kyselyOver('postgres');

/**
 * Makes a database of Knex. `tx` is its transaction; `tx.transaction()` in it is a savepoint.
 *
 * @throws {ConfigurationError} for another value, and for wrong options
 */
export const fromKnex = knexOver('postgres');

/**
 * Makes a database of Prisma. `tx` is the client of an interactive transaction.
 *
 * @throws {ConfigurationError} for another value, and for wrong options
 */
export const fromPrisma = prismaOver('postgres');

/**
 * Makes a database of TypeORM, which may connect later. `tx` is the `EntityManager` of the transaction.
 *
 * @throws {ConfigurationError} for another value, and for wrong options
 */
export const fromTypeOrm = typeOrmOver('postgres');
