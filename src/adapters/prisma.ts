// Prisma as a database for the stores.
import { LONGEST_WAIT } from '../sql/bounded.ts';
import { type PoolOptions, poolWith, type SqlDatabase, type SqlQuery, type SqlRow } from '../sql/database.ts';

/** A client of Prisma over PostgreSQL, MySQL or MariaDB, by shape. */
export interface PrismaDatabase<Tx> {
  $transaction<T>(
    work: (tx: Tx) => Promise<T>,
    options?: { isolationLevel?: 'ReadCommitted'; maxWait?: number; timeout?: number },
  ): Promise<T>;
  $queryRawUnsafe(sql: string, ...values: never[]): PromiseLike<unknown>;
}

/** Milliseconds of a transaction, whose effect takes 25 s at most. Prisma's default is 5 s. */
const LONGEST = 60_000;

export const prismaOver =
  (dialect: 'postgres' | 'mysql') =>
  <Tx>(prisma: PrismaDatabase<Tx>, options?: PoolOptions): SqlDatabase<Tx> => {
    const queryOf =
      (handle: unknown): SqlQuery =>
      async (sql, values = []) => {
        const client = handle as Client;
        if (dialect === 'postgres' || READS.test(sql)) return client.$queryRawUnsafe(sql, ...values);
        await client.$executeRawUnsafe(sql, ...values);
        return [];
      };
    return {
      dialect,
      pool: poolWith('fromPrisma', prisma, options),
      query: queryOf(prisma),
      transaction: work =>
        prisma.$transaction(work, { isolationLevel: 'ReadCommitted', maxWait: LONGEST_WAIT, timeout: LONGEST }),
      queryIn: queryOf,
    };
  };

/** Every client of Prisma has both. Only the second takes each statement of MySQL. */
type Client = Record<'$queryRawUnsafe' | '$executeRawUnsafe', (...statement: unknown[]) => Promise<SqlRow[]>>;

const READS = /^\(?(?:SELECT|SHOW) /;
