// Prisma, as a database for our stores.
import { AsyncLocalStorage } from 'node:async_hooks';
import { ConfigurationError } from '../errors.ts';
import { storeOptions, timeoutProblem } from '../options/store-options.ts';
import { LONGEST_WAIT } from '../sql/bounded.ts';
import {
  DEFAULT_SIZE,
  noTransaction,
  poolSizeProblem,
  type SqlDatabase,
  type SqlQuery,
  type SqlRow,
} from '../sql/database.ts';
import { Gate, guard, lendGuarded } from './gate.ts';
import { sentAtOnce } from './lazy.ts';
import { misfit, noTransactionOf } from './misfit.ts';

/** A client of Prisma over PostgreSQL, MySQL or MariaDB, by shape. */
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
   * How many connections its pool has: inboxes hold at most half of them, and so do the statements of journals.
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
 * Lets the stores of Postgres and of MySQL use the merchant's Prisma. `onPayment` gets the client of an interactive
 * transaction as `tx`.
 *
 * @throws {ConfigurationError} for the client of a transaction, and for a database that there are no stores for
 * @example
 * const inbox = postgresInbox(fromPrisma(prisma, { poolSize: 10 })); // onPayment gets the client of an interactive transaction as its tx
 * const journal = postgresJournal(fromPrisma(prisma, { poolSize: 10 }), { scope: 'eu-terminal' });
 * // The whole of it, with its handler: docs/orms/prisma.md
 */
export function fromPrisma<Tx>(prisma: PrismaDatabase<Tx>, options: PrismaOptions = {}): SqlDatabase<Tx> {
  const { $transaction, $queryRawUnsafe, $connect, _engine, _activeProvider: provider } = (prisma ?? {}) as Internals;
  const refused = (takes: string) => misfit('fromPrisma', takes, prisma);
  if (!$queryRawUnsafe) throw refused('a new PrismaClient()');
  if (!$transaction || !$connect) throw refused('a new PrismaClient(), and not the client of a transaction');
  const isMysql = provider === 'mysql';
  if (provider && !isMysql && !POSTGRES.test(provider))
    throw refused(`a PrismaClient over PostgreSQL or MySQL, and this one is over ${provider}`);
  const problems = { poolSize: poolSizeProblem, timeout: timeoutProblem };
  const { poolSize: max = DEFAULT_SIZE, timeout = 60_000 } = storeOptions('fromPrisma', options, problems);

  const gates = new Gates();
  const client = isMysql ? gates.before(prisma) : prisma;
  const queryOf = isMysql ? mysqlQueryOf : rowsOf;

  return {
    dialect: isMysql ? 'mysql' : 'postgres',
    // Those that $extends makes of it have the same.
    pool: { identity: _engine ?? prisma, max },
    query: queryOf(prisma),
    queryIn(tx) {
      const { $queryRawUnsafe, $connect } = (tx ?? {}) as Internals;
      if (!$queryRawUnsafe || $connect)
        throw noTransactionOf('that of prisma.$transaction(async tx => …)', tx, 'fromPrisma');
      return whileOpen(tx, queryOf(tx as Executor));
    },
    transaction: work => {
      const run = (tx: Tx) => {
        const query = queryOf(tx as Executor);
        return isMysql ? gates.run(tx, query, gated => work(tx, gated)) : work(tx, query);
      };
      return client.$transaction(run, { isolationLevel: 'ReadCommitted', maxWait: LONGEST_WAIT, timeout });
    },
    ...(isMysql && { lend: lendGuarded }),
  };
}

/** Under which a client of a transaction tells which transactions are open: the outermost, and those within it. */
const SCOPE = Symbol.for('prisma.client.transaction.scope_context');

interface Scope {
  scopeId?: unknown;
  scopeState?: { stack?: readonly unknown[] };
}

/**
 * Statements in a transaction, as long as it is open and no other one is within it. Prisma sends a statement some time after it
 * was asked for, and so perhaps after a nested transaction was rolled back: it would run in the outer one; or after another one was
 * begun: it would be undone with that. In a nested one the first, which all others need, is answered before they are sent, all at
 * once. A version that tells nothing of its transactions can refuse none.
 */
function whileOpen(tx: unknown, query: SqlQuery): SqlQuery {
  const { scopeId, scopeState: { stack = [scopeId] } = {} } = (tx as { [SCOPE]?: Scope })[SCOPE] ?? {};
  const expectOpen = () => {
    if (!stack.includes(scopeId)) throw noTransaction();
    if (stack.at(-1) !== scopeId) throw new ConfigurationError(BESIDE);
  };
  const send: SqlQuery = async (...statement) => {
    // What is begun in the same turn is seen.
    await undefined;
    expectOpen();
    try {
      return await query(...statement);
    } finally {
      // One that has begun in the meantime is not over yet.
      if (stack.includes(scopeId)) expectOpen();
    }
  };
  if (stack[0] === scopeId) return send;
  /** Prisma has ended it when this is answered, if it has begun to. */
  const turn = async () => {
    expectOpen();
    await query('SELECT 1 AS turn');
  };
  let before: Promise<unknown> | undefined;
  return async (...statement) => {
    if (before) {
      await before;
      return send(...statement);
    }
    const first = turn().then(() => send(...statement));
    before = first.then(turn).catch(() => {});
    return first;
  };
}

const BESIDE =
  'A nested transaction is open beside the plan, and Prisma may write the plan into it: await the plan before you begin one, and plan in the innermost one. Roll this transaction back.';

/** An operation of a client, as its extensions see it. */
interface Operation {
  operation: string;
  args: unknown;
  query(args: unknown): Promise<unknown>;
  __internalParams?: { transaction?: { id?: string } };
}

/** Statements that pass no gate could end a transaction, and its mark would be lost or left alone. */
const NOT_TOLD =
  'fromPrisma cannot guard transactions over MySQL with this version of Prisma, which does not tell to which of them a statement belongs. onPayment was not run. Use a version that docs/orms.md of the package names.';

/** Gates before transactions, which Prisma tells apart by an id: it shows that only with what is asked of one. */
class Gates {
  readonly #gates = new Map<string | undefined, Gate>();
  readonly #own = new AsyncLocalStorage<(id: string | undefined) => void>();

  /** The client, whose transactions have gates before them. */
  before<Client>(prisma: Client): Client {
    const $allOperations = ({ operation, args, query, __internalParams }: Operation) => {
      const id = __internalParams?.transaction?.id;
      this.#own.getStore()?.(id);
      const gate = this.#gates.get(id);
      return gate ? gate.pass(operation.startsWith('$') ? textIn(args) : '', () => query(args)) : query(args);
    };
    return (prisma as { $extends(extension: object): Client }).$extends({ query: { $allOperations } });
  }

  /** Runs a work in a transaction, whose first statement puts the gate before it. */
  async run<Tx, T>(tx: Tx, query: SqlQuery, work: (query: SqlQuery) => Promise<T>): Promise<T> {
    const gate = new Gate();
    guard(tx, gate);
    let known: string | undefined;
    const know = (id: string | undefined) => {
      if (!id) throw new ConfigurationError(NOT_TOLD);
      known = id;
      this.#gates.set(id, gate);
    };
    try {
      return await work((sql, values) => (known ? query(sql, values) : this.#own.run(know, () => query(sql, values))));
    } finally {
      this.#gates.delete(known);
    }
  }
}

/** Of a statement that is written as it is, or as a template. */
function textIn(args: unknown): string {
  const [sql] = Array.isArray(args) ? args : [args];
  return typeof sql === 'string' ? sql : String((sql as { sql?: unknown } | undefined)?.sql);
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

/** Every client of Prisma has it. */
type Writer = { $executeRawUnsafe(sql: string, ...values: unknown[]): Promise<number> };

/** Also for statements that answer no rows: then it answers none. */
const rowsOf =
  (handle: Executor): SqlQuery =>
  async (sql, values = []) =>
    (await sentAtOnce(handle.$queryRawUnsafe(sql, ...(values as never[])))) as SqlRow[];

/** Of what is written, Prisma tells the number of rows only to whoever does not ask for them. */
const mysqlQueryOf =
  (handle: Executor): SqlQuery =>
  async (sql, values = []) => {
    if (READS.test(sql)) return rowsOf(handle)(sql, values);
    const writer = handle as Executor & Writer;
    return [{ affected: String(await sentAtOnce(writer.$executeRawUnsafe(sql, ...values))) }];
  };

const READS = /^\s*SELECT\b/i;
