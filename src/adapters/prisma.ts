// Prisma as a database for the stores.
import { storeOptions, timeoutProblem } from '../options/store-options.ts';
import { LONGEST_WAIT } from '../sql/bounded.ts';
import {
  DEFAULT_SIZE,
  type PoolOptions,
  poolSizeProblem,
  type SqlDatabase,
  type SqlQuery,
  type SqlRow,
} from '../sql/database.ts';

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

/** Options of `fromPrisma`: facts about a client that Prisma's documented API does not show. */
export interface PrismaOptions extends PoolOptions {
  /**
   * Milliseconds for a transaction, including your function, before Prisma rolls it back. Prisma's own default of 5,000
   * is short for a transaction that waits for others.
   * @default 60_000
   */
  timeout?: number | undefined;
}

export const prismaOver =
  (dialect: SqlDatabase<unknown>['dialect']) =>
  <Tx>(prisma: PrismaDatabase<Tx>, options: PrismaOptions = {}): SqlDatabase<Tx> => {
    const problems = { poolSize: poolSizeProblem, timeout: timeoutProblem };
    const { poolSize: max = DEFAULT_SIZE, timeout = 60_000 } = storeOptions('fromPrisma', options, problems);
    const queryOf = dialect === 'mysql' ? mysqlQueryOf : rowsOf;
    return {
      dialect,
      pool: { identity: prisma, max },
      query: queryOf(prisma),
      transaction: work =>
        prisma.$transaction(work, { isolationLevel: 'ReadCommitted', maxWait: LONGEST_WAIT, timeout }),
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

/** The SDK's statements that read. */
const READS = /^\(?(?:SELECT|SHOW) /;
