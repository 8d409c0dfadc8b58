// The SQL of an inbox in MySQL: a payment is a locked row, and a savepoint identifies its transaction.
import { InvalidRequestError } from '../errors.ts';
import type { InboxEvent, Mark } from '../inbox/contract.ts';
import { isPaymentId } from '../schemas/id.ts';
import { outsideTransaction, type SqlQuery, sqlCodeOf, withoutColumns } from '../sql/database.ts';
import type { InboxSql } from '../sql/inbox.ts';
import {
  AUTOCOMMIT,
  advised,
  asciiHex,
  checkAutocommit,
  ddlOf,
  hasChanged,
  hasSavepoint,
  IS_COMMITTED,
  insertedAlone,
  isOpen,
  migrate,
  NOW,
  quoted,
  refuseUncommitted,
  TABLE_OPTIONS,
  TEXT,
} from './table.ts';

/** A locked payment. */
interface Locked {
  /** The table with its database, as SQL: onPayment may USE another one. */
  name: string;
  marks: readonly Mark[];
}

const SAVEPOINT = 'payment_gateway_inbox';

/** @param table its name, as the merchant wrote it */
export function inboxSql(table: string): InboxSql<Locked, Locked> {
  const sql = statements(quoted(table));
  let isChecked = false;
  const read = async (query: SqlQuery, paymentId: string): Promise<readonly Mark[]> => {
    const [row] = await query(sql.read, [paymentId]);
    return row ? marksIn(row.marks) : [];
  };
  /** Changes marks outside a transaction. @returns false if other code changed them first */
  const change = async (query: SqlQuery, paymentId: string, from: readonly Mark[], to: readonly Mark[]) => {
    if (hasChanged(await query(sql.change, [...valuesOf(to), paymentId, asciiHex(from)]))) return true;
    return asciiHex(await read(query, paymentId)) === asciiHex(from) ? refuseUncommitted(query) : false;
  };

  return {
    migrate: database => migrate(database, table, sql.migrations),
    ddl: () => ddlOf(table, sql.migrations),
    advised,

    /** Inserts in a separate transaction, because workers wait for an uncommitted row instead of skipping it. */
    async prepare(query, event) {
      const paymentId = idOf(event.paymentId);
      const [line] = await query(sql.exists, [paymentId]);
      checkAutocommit(line);
      if (line?.found !== '1') await insertedAlone(query, sql.insert, [paymentId]);
    },

    async open(query) {
      // Once is enough: a database either begins transactions or does not.
      isChecked ||= await isOpen(query);
      if (!isChecked) throw outsideTransaction();
      await query(`SAVEPOINT ${SAVEPOINT}`);
    },

    async lock(query, { paymentId }) {
      const [row] = await query(sql.lock, [paymentId]);
      if (!row) return undefined;
      if (typeof row.marks !== 'string') throw withoutColumns();
      return { name: quoted(table.includes('.') ? table : `${row.name}.${table}`), marks: marksIn(row.marks) };
    },

    marks: async (_query, _event, { marks }) => marks,

    async begin(query, event, { name, marks }) {
      const begun = [...marks, begunBy(event)];
      await query(statements(name).set, [...valuesOf(begun), event.paymentId]);
      return { name, marks: begun };
    },

    async complete(query, { paymentId, status }, { name, marks }) {
      if (!(await hasSavepoint(query, `RELEASE SAVEPOINT ${SAVEPOINT}`))) return false;
      return hasChanged(await query(statements(name).set, [...valuesOf(done(marks, status)), paymentId]));
    },

    async isEnded(query) {
      const [last] = await query('SHOW ERRORS').catch(() => []);
      const isOurs = await hasSavepoint(query, `ROLLBACK TO SAVEPOINT ${SAVEPOINT}`).catch(refusedByPrisma);
      return !isOurs && !UNDOES.has(String(last?.Code));
    },

    async find(query, { paymentId, status }, { name }) {
      const [line] = await query(statements(name).find, [paymentId]);
      // Inside a transaction, it would see its own mark before the commit.
      checkAutocommit(line);
      const mark = line && marksIn(line.marks).find(mark => mark.status === status);
      return mark && (mark.begun ? 'begun' : 'done');
    },

    async keep(query, event) {
      await insertedAlone(query, sql.insert, [event.paymentId]);
      for (;;) {
        const marks = await read(query, event.paymentId);
        if (marks.some(({ status }) => status === event.status)) return;
        if (await change(query, event.paymentId, marks, [...marks, begunBy(event)])) return;
      }
    },

    async resolve(query, id, status, resolution) {
      const paymentId = idOf(id);
      for (;;) {
        const marks = await read(query, paymentId);
        if (!marks.some(mark => mark.status === status && mark.begun)) return false;
        const next = resolution === 'done' ? done(marks, status) : marks.filter(mark => mark.status !== status);
        if (await change(query, paymentId, marks, next)) return true;
      }
    },
  };
}

/**
 * Errors with which MySQL undoes the whole transaction: a deadlock, its equivalents on a cluster, and a full lock
 * table. Each later statement would be committed by itself, so the effect may run again only if the last statement got
 * the error.
 */
const UNDOES: ReadonlySet<string> = new Set(['1213', '3101', '1020', '1206']);

/** Prisma stops sending queries once a nested transaction failed to end, as after a deadlock. */
function refusedByPrisma(error: unknown): false {
  if (sqlCodeOf(error) === 'P2028') return false;
  throw error;
}

/** @throws {InvalidRequestError} for any other text, because a column of fixed width treats some texts as equal */
function idOf(paymentId: string): string {
  if (isPaymentId(paymentId)) return paymentId.toLowerCase();
  throw new InvalidRequestError([{ path: 'paymentId', message: "must be the gateway's id of the payment, a UUID" }]);
}

const begunBy = ({ status, final }: InboxEvent): Mark => ({ status, final, begun: true });

const done = (marks: readonly Mark[], status: string): Mark[] =>
  marks.map(mark => (mark.status === status ? { status, final: mark.final } : mark));

const marksIn = (text: unknown): readonly Mark[] => JSON.parse(String(text));

const valuesOf = (marks: readonly Mark[]): string[] => [asciiHex(marks), String(marks.some(({ begun }) => begun))];

const statements = (inbox: string) => ({
  find: `SELECT ${AUTOCOMMIT}, marks FROM ${inbox} WHERE payment_id = ?`,

  read: `SELECT marks FROM ${inbox} WHERE payment_id = ?`,

  exists: `SELECT ${AUTOCOMMIT}, CAST(EXISTS (SELECT 1 FROM ${inbox} WHERE payment_id = ?) AS CHAR) AS found`,

  insert: `INSERT INTO ${inbox} (payment_id, marks, in_doubt, changed_at)
    SELECT ?, '[]', FALSE, ${NOW} FROM DUAL WHERE ${IS_COMMITTED}`,

  // One row by its key, because a range would lock other payments. A locking read ignores an older snapshot.
  lock: `SELECT DATABASE() AS name, marks FROM ${inbox} WHERE payment_id = ? FOR UPDATE SKIP LOCKED`,

  set: `UPDATE ${inbox} SET marks = ${TEXT}, in_doubt = ? = 'true', changed_at = ${NOW} WHERE payment_id = ?`,

  change: `UPDATE ${inbox} SET marks = ${TEXT}, in_doubt = ? = 'true', changed_at = ${NOW}
    WHERE payment_id = ? AND marks = ${TEXT} AND ${IS_COMMITTED}`,

  migrations: [
    `CREATE TABLE IF NOT EXISTS ${inbox} (
      payment_id char(36) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
      marks longtext CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
      in_doubt boolean NOT NULL,
      changed_at datetime(3) NOT NULL,
      PRIMARY KEY (payment_id)
    ) ${TABLE_OPTIONS}`,
  ],
});
