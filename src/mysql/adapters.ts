// The adapters of libraries over MySQL and MariaDB.
import { drizzleOver } from '../adapters/drizzle.ts';
import { knexOver } from '../adapters/knex.ts';
import { kyselyOver } from '../adapters/kysely.ts';
import { prismaOver } from '../adapters/prisma.ts';
import { typeOrmOver } from '../adapters/typeorm.ts';

/**
 * Makes a database from Drizzle over `mysql2`. `tx` is its transaction. `tx.transaction()` sets a savepoint.
 *
 * @throws {ConfigurationError} for a wrong option or no database
 */
export const fromDrizzle = drizzleOver('mysql');

/**
 * Makes a database from Kysely. `tx` is its transaction, which cannot nest another.
 *
 * @throws {ConfigurationError} for a wrong option or no database
 */
export const fromKysely = kyselyOver('mysql');

/**
 * Makes a database from Knex. `tx` is its transaction. `tx.transaction()` sets a savepoint.
 *
 * @throws {ConfigurationError} for a wrong option or no database
 */
export const fromKnex = knexOver('mysql');

/**
 * Makes a database from Prisma. `tx` is the client of an interactive transaction.
 *
 * @throws {ConfigurationError} for a wrong option or no database
 */
export const fromPrisma = prismaOver('mysql');

/** Makes a database from TypeORM, which may connect later. `tx` is the `EntityManager` of the transaction. */
export const fromTypeOrm = typeOrmOver('mysql');
