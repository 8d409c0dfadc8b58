// Watches over a connection of MySQL for one transaction: what Postgres refuses by itself, MySQL would write outside of it.
import { RolledBack } from '../sql/bounded.ts';
import { sqlCodeOf } from '../sql/database.ts';
import { ENDED } from './ended.ts';
import { endsTransaction, runsHidden } from './implicit-commit.ts';

const CONTROLS =
  'tx is one transaction, which the inbox commits together with its mark. So BEGIN, COMMIT and ROLLBACK are refused, and so are statements before which MySQL commits by itself (CREATE, ALTER, DROP, TRUNCATE, LOCK TABLES and their like): run those elsewhere, and use SAVEPOINT for a part that may fail.';

const UNDONE_BY =
  'A deadlock, or a lock that was not released in time, ended the transaction of onPayment: the database has undone all of it, and takes nothing more.';

/**
 * A deadlock, its like on a cluster, and no room for locks (1206): MySQL has undone the whole transaction, and would commit
 * what comes next at once. After a lock wait that was too long (1205) it may have, by a setting of the server.
 */
const UNDOES: ReadonlySet<unknown> = new Set(['1213', '3101', '1020', '1205', '1206', 'P2034']);

/** What libraries send at the end of a transaction. */
const ENDING = /^\s*(?:commit|rollback)\s*;?\s*$/i;

/** Our own statements begin so, by which the gate knows them after the work of the merchant. */
export const OWN_STATEMENT = '/* payment-gateway-sdk */ ';

/**
 * Puts a gate before methods of a connection that send statements, until its transaction ends.
 *
 * @param wrap makes the methods that let statements through
 */
export function gateBefore<Connection extends object>(
  connection: Connection,
  wrap: { [Name in keyof Connection]?: (gate: Gate, send: Connection[Name]) => Connection[Name] },
): Gate {
  const names = Object.keys(wrap) as (keyof Connection)[];
  const before = names.map(name => Object.getOwnPropertyDescriptor(connection, name));
  const gate = new Gate(() => {
    for (const [index, name] of names.entries()) {
      const own = before[index];
      if (own) Object.defineProperty(connection, name, own);
      else delete connection[name];
    }
  });
  for (const name of names) {
    const send = connection[name] as (...args: never[]) => unknown;
    connection[name] = wrap[name]?.(gate, send.bind(connection) as Connection[typeof name]) as Connection[typeof name];
  }
  return gate;
}

const gates = new WeakMap<object, Gate>();

/** Puts a gate before a transaction. */
export const guard = (tx: unknown, gate: Gate) => void gates.set(tx as object, gate);

/** Lends a transaction that has a gate before it. */
export const lendGuarded = <Tx>(tx: Tx, work: (tx: Tx) => Promise<unknown>): Promise<void> =>
  (gates.get(tx as object) as Gate).lend(() => work(tx));

/** Lets the statements of one transaction pass. */
export class Gate {
  #state: 'own' | 'lent' | 'ended' = 'own';
  #last: Promise<unknown> = Promise.resolve();
  #running = 0;
  #failure: unknown;
  /** Whether the transaction is still the one that began, as far as can be seen. */
  #isSure = true;
  #isOpen = false;
  readonly #open: () => void;

  /** @param open takes the gate away, if the library is seen to end the transaction */
  constructor(open = () => {}) {
    this.#open = open;
  }

  /**
   * Runs the work, whose statements pass one at a time: those that wait behind one that fails would be sent, too.
   *
   * @throws {RolledBack} if the database has undone the transaction, also where the work ignored that; another error, if it is
   * not sure that this was the transaction which began
   * @throws Error if statements of it still run when it returns
   * @throws what the work throws
   */
  async lend(work: () => Promise<unknown>): Promise<void> {
    this.#state = 'lent';
    try {
      await work();
    } catch (error) {
      throw this.#failure === undefined ? error : this.#undone();
    } finally {
      this.#state = 'ended';
    }
    if (this.#failure !== undefined) throw this.#undone();
    if (this.#running === 0) return;
    throw new Error(`onPayment returned while ${this.#running} of its queries ran, so nothing was committed. ${ENDED}`);
  }

  /** Sends a statement, in its turn, or refuses it. */
  async pass<T>(text: string, send: () => Promise<T>): Promise<T> {
    const isEnding = ENDING.test(text);
    if (this.#state === 'lent') return this.#inTurn(text, send);
    if (this.#state === 'ended' && !isEnding && !text.startsWith(OWN_STATEMENT)) throw new Error(ENDED);
    // The connection may be somebody else's as soon as this is answered.
    if (isEnding) this.#takeAway();
    return send();
  }

  /** Ends a transaction that the library has left open: nobody else may get its connection so. */
  async end(rollback: () => Promise<unknown>): Promise<void> {
    if (this.#isOpen) return;
    this.#state = 'ended';
    this.#takeAway();
    // Of a connection that is broken there is nothing left to end.
    await rollback().catch(() => {});
  }

  #takeAway(): void {
    if (this.#isOpen) return;
    this.#isOpen = true;
    this.#open();
  }

  /** What was written after a procedure had ended the transaction is committed. */
  #undone(): Error {
    const cause = this.#failure;
    return this.#isSure ? new RolledBack(UNDONE_BY, { cause }) : new Error(UNDONE_BY, { cause });
  }

  async #inTurn<T>(text: string, send: () => Promise<T>): Promise<T> {
    if (endsTransaction(text)) throw new Error(CONTROLS);
    if (runsHidden(text)) this.#isSure = false;
    this.#running += 1;
    const turn = this.#last.then(async () => {
      if (this.#state === 'ended') throw new Error(ENDED);
      if (this.#failure !== undefined) throw this.#undone();
      return send();
    });
    this.#last = turn.catch(error => {
      const code = sqlCodeOf(error);
      if (UNDOES.has(code)) this.#failure ??= error;
      // A time-out of the driver: the statement goes on, and nobody will hear that it has met a deadlock.
      if (code === undefined) this.#isSure = false;
    });
    try {
      return await turn;
    } finally {
      this.#running -= 1;
    }
  }
}
