// pg-boss: a job every minute, in one replica at a time.
import type { PgBoss } from 'pg-boss';
import { gateway, handler } from './payments.ts';

const QUEUE = 'payments-upkeep';

export async function scheduleUpkeep(boss: PgBoss): Promise<void> {
  await boss.createQueue(QUEUE, { policy: 'short', retryLimit: 0 });
  await boss.work(QUEUE, ([job]) => gateway.upkeep({ handler, once: true, signal: job?.signal }));
  await boss.schedule(QUEUE, '* * * * *');
}
