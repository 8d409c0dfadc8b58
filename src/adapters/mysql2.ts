// What the libraries over mysql2 have in common: its connections, behind a gate, and its answers, as rows.
import { type SqlPool, type SqlRow, sizeOf } from '../sql/database.ts';
import { type Gate, gateBefore } from './gate.ts';

/** A connection of mysql2 with callbacks, which all that is made of it sends its statements by. */
export interface RawConnection {
  query(...args: unknown[]): unknown;
  execute(...args: unknown[]): unknown;
}

type Callback = (error: unknown, ...answer: unknown[]) => void;

const NO_STREAMS = 'tx has no streams: read them with a connection of your own.';

/** Puts a gate before a connection, until its transaction ends. */
export const gateOf = (connection: RawConnection): Gate => gateBefore(connection, { query: through, execute: through });

/** Ends a transaction that the library has left open. */
export const endOf = (gate: Gate, connection: RawConnection): Promise<void> =>
  gate.end(
    () =>
      new Promise<void>((resolve, reject) =>
        connection.query('ROLLBACK', (error: unknown) => (error ? reject(error) : resolve())),
      ),
  );

/** Statements without a callback are streams, which nobody can wait for. */
function through(gate: Gate, send: RawConnection['query']): RawConnection['query'] {
  return (...args) => {
    const callback = args.at(-1);
    if (typeof callback !== 'function') throw new Error(NO_STREAMS);
    const tell = callback as Callback;
    const answered = gate.pass(
      textOf(args[0]),
      () =>
        new Promise<unknown[]>((resolve, reject) => {
          const told: Callback = (error, ...answer) => (error ? reject(error) : resolve(answer));
          send(...args.slice(0, -1), told);
        }),
    );
    answered.then(answer => tell(null, ...answer), tell);
    return undefined;
  };
}

const textOf = (query: unknown): string =>
  typeof query === 'string' ? query : String((query as { sql?: unknown } | undefined)?.sql);

/** The rows of an answer; of a write one, which says how many rows it has changed. */
export const mysqlRows = (answer: unknown): readonly SqlRow[] =>
  Array.isArray(answer) ? answer : [{ affected: String((answer as { affectedRows?: unknown }).affectedRows) }];

/** The pool of mysql2, with callbacks or with promises. */
export function mysqlPoolOf(pool: object | undefined): SqlPool | undefined {
  if (!pool) return undefined;
  const core = (pool as { pool?: object }).pool ?? pool;
  const { connectionLimit } = (core as { config?: { connectionLimit?: unknown } }).config ?? {};
  return { identity: core, max: sizeOf(connectionLimit) };
}
