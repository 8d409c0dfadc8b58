// Keeps what must happen once in this process's memory: for development and tests.
import { checkOptionNames } from '../option-names.ts';
import { isSamePayment } from '../payment-id.ts';
import { type Inbox, isDone, type Mark } from './inbox.ts';
import { isOwn, type Journal, type JournalAttempt, type JournalKey, type JournalRecord } from './journal.ts';

/**
 * An inbox for one process, forgotten when it ends. In production a second replica or a restart would run effects
 * again: take `postgresInbox` or `redisInbox` there.
 */
export function memoryInbox(): Inbox {
  warnInProduction('memoryInbox forgets which callbacks were handled', 'postgresInbox or redisInbox');
  const marksOf = new Map<string, Mark[]>();
  const busy = new Set<string>();
  return {
    async run(event, work) {
      const { paymentId, status, final } = event;
      if (busy.has(paymentId)) return 'busy';
      const marks = marksOf.get(paymentId) ?? [];
      if (isDone(marks, event)) return 'already';
      busy.add(paymentId);
      try {
        await work({});
        marksOf.set(paymentId, [...marks, { status, final }]);
        return 'ran';
      } finally {
        busy.delete(paymentId);
      }
    },
  };
}

/**
 * A journal for one process, forgotten when it ends. In production a second replica or a restart would pay a reference
 * again: take `postgresJournal` there.
 */
export function memoryJournal(options: { scope?: string | undefined } = {}): Journal {
  checkOptionNames('memoryJournal', options, ['scope']);
  const { scope } = options;
  warnInProduction('memoryJournal forgets which references were paid', 'postgresJournal');
  type Row = JournalRecord & { deadline: number; strays: string[] };
  const rows = new Map<string, Row>();
  const nameOf = ({ scope, reference }: JournalKey) => JSON.stringify([scope, reference]);
  const copyOf = (key: JournalKey): JournalRecord | undefined => {
    const row = rows.get(nameOf(key));
    if (!row) return undefined;
    const { deadline, strays, ...record } = structuredClone(row);
    return strays.length > 0 ? { ...record, strayIds: strays } : record;
  };
  /** The row, if it is still at that attempt. */
  const at = (key: JournalKey, token: string) => {
    const row = rows.get(nameOf(key));
    return row?.token === token ? row : undefined;
  };
  const keep = (row: Row, id: string) => {
    if (![row.paymentId ?? '', ...row.strays].some(known => isSamePayment(known, id))) row.strays.push(id);
  };
  /** Whether nothing but perhaps a disproved id has been told. */
  const isOpen = ({ result, paymentId }: Row, disproved?: string): boolean =>
    !result && (!paymentId || (disproved !== undefined && isSamePayment(paymentId, disproved)));
  const free = (
    key: JournalKey,
    token: string,
    isPast: (deadline: number) => boolean,
    disproved?: string,
  ): boolean => {
    const row = at(key, token);
    return (
      row !== undefined &&
      isOpen(row, disproved) &&
      row.strays.length === 0 &&
      isPast(row.deadline) &&
      rows.delete(nameOf(key))
    );
  };
  return {
    scope,
    async begin({ timeoutMs, ...attempt }: JournalAttempt) {
      const standing = copyOf(attempt);
      if (standing) return isOwn(standing, attempt.token) ? undefined : standing;
      const since = new Date();
      rows.set(nameOf(attempt), { ...attempt, since, deadline: since.getTime() + timeoutMs, strays: [] });
      return undefined;
    },
    async read(key) {
      return copyOf(key);
    },
    async accept(key, token, result) {
      const row = at(key, token);
      if (!row) return { accepted: false };
      const { paymentId: before } = row;
      const { id } = result.payment;
      Object.assign(row, { paymentId: id, result: structuredClone(result) });
      if (!before || isSamePayment(before, id)) return { accepted: true };
      keep(row, before);
      return { accepted: true, other: before };
    },
    async settle(key, token, result, disproved) {
      const row = at(key, token);
      const { id } = result.payment;
      if (!row || !(isOpen(row, disproved) || isOpen(row, id))) return false;
      const { paymentId: before } = row;
      Object.assign(row, { paymentId: id, result: structuredClone(result) });
      if (before) keep(row, before);
      return true;
    },
    async suspect(key, token, paymentId) {
      const row = at(key, token);
      if (!row) return { accepted: false };
      const { paymentId: before = paymentId } = row;
      row.paymentId = before;
      if (isSamePayment(before, paymentId)) return { accepted: true };
      keep(row, paymentId);
      return { accepted: true, other: before };
    },
    release: async (key, token) => free(key, token, () => true),
    abandon: async (key, token, disproved) => free(key, token, deadline => deadline < Date.now(), disproved),
    async keepStray(key, token, paymentId) {
      const row = at(key, token);
      if (row) keep(row, paymentId);
      return row !== undefined;
    },
    async inDoubt() {
      return [...rows.values()]
        .filter(row => !row.result)
        .map(({ scope, reference, since, paymentId }) => ({ scope, reference, since, paymentId }));
    },
  };
}

function warnInProduction(what: string, instead: string): void {
  if (process.env.NODE_ENV !== 'production') return;
  const message = `${what} when the process ends, and no other replica knows them. In production use ${instead}.`;
  process.emitWarning(message, 'PaymentGatewayWarning');
}
