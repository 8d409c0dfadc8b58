// An inbox in this process's memory, for development and tests.
import { warnOfForgetting } from '../telemetry/events.ts';
import { decide, type Inbox, type Mark } from './contract.ts';

/**
 * Makes an inbox for one process, forgotten when it ends. In production use `postgresInbox` or `mysqlInbox`: a second
 * replica or a restart would run effects again.
 */
export function memoryInbox(): Inbox {
  warnOfForgetting('memoryInbox forgets which callbacks were handled', 'postgresInbox or mysqlInbox');
  const marksOf = new Map<string, readonly Mark[]>();
  const busy = new Set<string>();
  return {
    async run(event, work) {
      const { paymentId, status, final } = event;
      if (busy.has(paymentId)) return 'busy';
      const marks = marksOf.get(paymentId) ?? [];
      const decision = decide(marks, event);
      if (decision !== 'run') return decision;
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
