// pg-boss: a job every minute, in whichever replica takes it.
import type { PgBoss } from 'pg-boss';
import { type Payments, upkeep } from '../../examples/upkeep.ts';

const QUEUE = 'payments-upkeep';

export async function scheduleUpkeep(boss: PgBoss, payments: Payments): Promise<void> {
  // One waits at most, however long one takes.
  await boss.createQueue(QUEUE, { policy: 'short', retryLimit: 0 });
  await boss.work(QUEUE, async ([job]) => upkeep(payments, job?.signal));
  await boss.schedule(QUEUE, '* * * * *');
}
