// Keeps what must happen once in this process's memory: for development and tests.
import { type Inbox, isDone, type Mark } from './inbox.ts';

/**
 * An inbox for one process, forgotten when it ends. In production a second replica or a restart would run effects
 * again: take `postgresInbox` or `redisInbox` there.
 */
export function memoryInbox(): Inbox {
  if (process.env.NODE_ENV === 'production') {
    process.emitWarning(
      'memoryInbox forgets which callbacks were handled when the process ends, and no other replica knows them. In production use postgresInbox or redisInbox.',
      'PaymentGatewayWarning',
    );
  }
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
