// Prisma, as a database for our stores.
import { storeOptions, timeoutProblem } from '../schemas/store-options.ts';
import { LONGEST_WAIT } from '../sql/bounded.ts';
import { DEFAULT_SIZE, poolSizeProblem, type SqlDatabase, type SqlQuery, type SqlRow } from '../sql/database.ts';
import { misfit, noTransactionOf } from './misfit.ts';

/** A client of Prisma over PostgreSQL, by shape. */
export interface PrismaDatabase<Tx> {
  $transaction<T>(work: (tx: Tx) => Promise<T>, options?: PrismaTransactionOptions): Promise<T>;
  $queryRawUnsafe(sql: string, ...values: never[]): PromiseLike<unknown>;
}

/** What is asked of a transaction of Prisma. */
export interface PrismaTransactionOptions {
  isolationLevel?: 'ReadCommitted';
  maxWait?: number;
  timeout?: number;
}

/** What a client of Prisma does not tell. */
export interface PrismaOptions {
  /**
   * How many connections its pool has: our stores hold at most half of them.
   * @default 10
   */
  poolSize?: number | undefined;
  /**
   * Milliseconds that a transaction may take, `onPayment` included: then Prisma rolls it back. Prisma's own default of
   * 5,000 is short for one that waits for others.
   * @default 60_000
   */
  timeout?: number | undefined;
}

/**
 * Lets `postgresInbox` and `postgresJournal` use the merchant's Prisma. `onPayment` gets the client of an interactive
 * transaction as `tx`.
 *
 * @throws {ConfigurationError} for the client of a transaction, and for another database than PostgreSQL
 * @example
 * const handler = createWebhookHandler({
 *   gateway,
 *   inbox: postgresInbox(fromPrisma(prisma)),
 *   onPayment: (payment, { tx }) =>
 *     tx.order.update({ where: { reference: payment.reference }, data: { isPaid: true } }),
 * });
 */
export function fromPrisma<Tx>(prisma: PrismaDatabase<Tx>, options: PrismaOptions = {}): SqlDatabase<Tx> {
  const { $transaction, $queryRawUnsafe, $connect, _engine, _activeProvider: provider } = (prisma ?? {}) as Internals;
  const refused = (takes: string) => misfit('fromPrisma', takes, prisma);
  if (!$queryRawUnsafe) throw refused('a new PrismaClient()');
  if (!$transaction || !$connect) throw refused('a new PrismaClient(), and not the client of a transaction');
  if (provider && !POSTGRES.test(provider))
    throw refused(`a PrismaClient over PostgreSQL, and this one is over ${provider}`);
  const problems = { poolSize: poolSizeProblem, timeout: timeoutProblem };
  const { poolSize: max = DEFAULT_SIZE, timeout = 60_000 } = storeOptions('fromPrisma', options, problems);

  return {
    dialect: 'postgres',
    // Those that $extends makes of it have the same.
    pool: { identity: _engine ?? prisma, max },
    query: queryOf(prisma),
    queryIn(tx) {
      const { $queryRawUnsafe, $connect } = (tx ?? {}) as Internals;
      if (!$queryRawUnsafe || $connect)
        throw noTransactionOf('fromPrisma', 'that of prisma.$transaction(async tx => …)', tx);
      return queryOf(tx as Executor);
    },
    transaction: work =>
      prisma.$transaction(tx => work(tx, queryOf(tx as Executor)), {
        isolationLevel: 'ReadCommitted',
        maxWait: LONGEST_WAIT,
        timeout,
      }),
  };
}

interface Internals {
  $transaction?: unknown;
  $queryRawUnsafe?: unknown;
  $connect?: unknown;
  _engine?: object;
  _activeProvider?: string;
}

const POSTGRES = /^postgres/;

type Executor = Pick<PrismaDatabase<unknown>, '$queryRawUnsafe'>;

/** Also for statements that answer no rows: then it answers none. */
const queryOf =
  (handle: Executor): SqlQuery =>
  async (sql, values = []) =>
    (await handle.$queryRawUnsafe(sql, ...(values as never[]))) as SqlRow[];
