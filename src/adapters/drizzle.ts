// Drizzle, as a database for our stores: its handles, over transactions of our own.
import type { SqlDatabase, SqlQuery } from '../sql/database.ts';
import { ENDED } from './ended.ts';
import { sentAtOnce } from './lazy.ts';
import { misfit, noTransactionOf } from './misfit.ts';

/** A database of Drizzle, by shape. */
export interface DrizzleDatabase<Tx> {
  transaction<T>(work: (tx: Tx) => Promise<T>, config?: DrizzleTransactionConfig): Promise<T>;
  execute(query: never): PromiseLike<unknown>;
}

/** What is asked of a transaction of Drizzle. */
export interface DrizzleTransactionConfig {
  isolationLevel: 'read committed';
  accessMode?: 'read write';
}

/** What a handle of Drizzle has inside. */
export interface Internals {
  $client?: object;
  dialect?: object;
  session?: Session;
  nestedIndex?: number;
  execute?: unknown;
}

/** What sends the statements of one client. */
export interface Session {
  client?: object;
  dialect: object;
  schema: unknown;
  options: unknown;
  transaction<T>(work: (tx: object) => Promise<T>): Promise<T>;
}
type SessionOf = new (client: object, dialect: object, schema: unknown, options: unknown) => Session;

/** What keeps the name of one of Drizzle's classes. */
const KIND = Symbol.for('drizzle:entityKind');

const kindOf = (dialect: object | undefined): unknown =>
  (dialect?.constructor as { [KIND]?: unknown } | undefined)?.[KIND];

/** The entry points whose fromDrizzle takes a dialect. */
const ENTRIES: Record<string, string> = { PgDialect: 'postgres', MySqlDialect: 'mysql' };

/** What a database of Drizzle is made of. */
export interface Opened {
  /** What it was made over. */
  client: object;
  /** A session like its own, over another client. */
  sessionOver(client: object): Session;
}

/**
 * @param expected the class of the dialect
 * @param name of the database that it is for
 * @throws {ConfigurationError} for what is no such database
 */
export function open<Tx>(db: DrizzleDatabase<Tx>, expected: string, name: string): Opened {
  const { $client = {}, dialect, nestedIndex, session, execute } = (db ?? {}) as unknown as Internals;
  const refused = (takes: string) => misfit('fromDrizzle', takes, db);
  const kind = kindOf(dialect);
  if (!session || !(execute || kind)) throw refused('what drizzle() returns');
  if (nestedIndex !== undefined) throw refused('what drizzle() returns, and none of its transactions');
  if (kind !== expected) {
    const entry = ENTRIES[String(kind)];
    const advice = entry ? `: it is for fromDrizzle() of payment-gateway-sdk/${entry}` : '';
    throw refused(`a Drizzle over ${name}, and this one has a ${kind}${advice}`);
  }
  return {
    client: $client,
    sessionOver: client =>
      new (session.constructor as SessionOf)(client, session.dialect, session.schema, session.options),
  };
}

/** @throws {ConfigurationError} for what is no transaction of Drizzle */
export function checkTransaction(tx: unknown): void {
  if ((tx as Internals | undefined)?.nestedIndex !== undefined) return;
  throw noTransactionOf('that of db.transaction(async tx => …)', tx, 'fromDrizzle');
}

/** What a handle answers; Drizzle takes no text with placeholders, but everything that can be made one. */
export const send = (handle: Pick<DrizzleDatabase<unknown>, 'execute'>, ...[sql, params = []]: Parameters<SqlQuery>) =>
  sentAtOnce(handle.execute({ getSQL: () => ({ toQuery: () => ({ sql, params }) }) } as never));

/** What sends statements for Drizzle. */
interface Sender {
  query(...args: unknown[]): Promise<unknown>;
}

/** A client that sends statements only in its time. */
interface Slot {
  client: Sender;
  target?: Sender | undefined;
}

/** With which Drizzle begins and ends a transaction. */
const TRANSACTION_CONTROL = /^(?:begin|commit|rollback)$/;

/**
 * The transaction is one of the database's, with all that it watches over: a connection that breaks before BEGIN was
 * answered, a COMMIT that was not one, queries that nobody awaits. Drizzle makes the handle, and believes that it has begun
 * and committed it.
 *
 * @param answer what a client answers to BEGIN and COMMIT
 */
export function overClients<Tx, Client extends object>(
  { transaction, lend, ...database }: SqlDatabase<Client>,
  sessionOver: Opened['sessionOver'],
  queryIn: (tx: Tx) => SqlQuery,
  answer: unknown,
): SqlDatabase<Tx> {
  const slots = new WeakMap<object, Slot>();
  return {
    ...database,
    queryIn,
    transaction: work =>
      transaction((client, query) => {
        const slot: Slot = { client: client as never };
        const sendIn = async (...args: unknown[]) => {
          if (slot.target) return slot.target.query(...args);
          const { text, sql } = args[0] as { text?: string; sql?: string };
          if (TRANSACTION_CONTROL.test(String(text ?? sql))) return answer;
          throw new Error(ENDED);
        };
        return sessionOver({ query: sendIn, execute: sendIn }).transaction(async tx => {
          slots.set(tx, slot);
          slot.target = slot.client;
          try {
            return await work(tx as Tx, query);
          } finally {
            slot.target = undefined;
          }
        });
      }),
    async lend(tx, work) {
      const slot = slots.get(tx as object) as Slot;
      try {
        return await lend?.(slot.client as never, lent => {
          slot.target = lent as never;
          return work(tx);
        });
      } finally {
        slot.target = undefined;
      }
    },
  };
}
