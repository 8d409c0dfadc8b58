// Prisma as a database for the stores.
import { LONGEST_WAIT } from '../sql/bounded.ts';
import { type PoolOptions, poolWith, type SqlDatabase, type SqlQuery, type SqlRow } from '../sql/database.ts';

/** A client of Prisma over PostgreSQL, MySQL or MariaDB, by shape. */
export interface PrismaDatabase<Tx> {
  $transaction<T>(work: (tx: Tx) => Promise<T>, options?: PrismaTransactionOptions): Promise<T>;
  $queryRawUnsafe(sql: string, ...values: never[]): PromiseLike<unknown>;
}

/** The options of a transaction of Prisma. */
export interface PrismaTransactionOptions {
  isolationLevel?: 'ReadCommitted';
  maxWait?: number;
  timeout?: number;
}

/** Milliseconds for a transaction with the effect in it, which takes 25 s at most. Prisma's default is 5 s. */
const LONGEST = 60_000;

export const prismaOver =
  (dialect: SqlDatabase<unknown>['dialect']) =>
  <Tx>(prisma: PrismaDatabase<Tx>, options: PoolOptions = {}): SqlDatabase<Tx> => {
    const queryOf = dialect === 'mysql' ? mysqlQueryOf : rowsOf;
    return {
      dialect,
      pool: poolWith('fromPrisma', prisma, options),
      query: queryOf(prisma),
      transaction: work =>
        prisma.$transaction(work, { isolationLevel: 'ReadCommitted', maxWait: LONGEST_WAIT, timeout: LONGEST }),
      queryIn: tx => queryOf(tx as Executor),
    };
  };

type Executor = Pick<PrismaDatabase<unknown>, '$queryRawUnsafe'>;

/** Every client of Prisma has it. */
type Writer = { $executeRawUnsafe(sql: string, ...values: unknown[]): Promise<number> };

/** Prisma answers an empty array for statements without rows. */
const rowsOf =
  (handle: Executor): SqlQuery =>
  async (sql, values = []) =>
    (await handle.$queryRawUnsafe(sql, ...(values as never[]))) as SqlRow[];

/** Runs a write with `$executeRawUnsafe`, because only that returns the number of changed rows. */
const mysqlQueryOf =
  (handle: Executor): SqlQuery =>
  async (sql, values = []) => {
    if (READS.test(sql)) return rowsOf(handle)(sql, values);
    return [{ affected: String(await (handle as Executor & Writer).$executeRawUnsafe(sql, ...values)) }];
  };

const READS = /^\(?(?:SELECT|SHOW) /;
