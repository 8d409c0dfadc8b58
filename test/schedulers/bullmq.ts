// BullMQ, on Redis: a job every minute, in one replica at a time.
import { type ConnectionOptions, Queue, Worker } from 'bullmq';
import { gateway, handler } from './payments.ts';

const QUEUE = 'payments-upkeep';

/** @returns close both when the app ends: running work is finished */
export async function scheduleUpkeep(connection: ConnectionOptions) {
  const queue = new Queue(QUEUE, { connection });
  const work = (_job: unknown, _token: unknown, signal?: AbortSignal) =>
    gateway.upkeep({ handler, once: true, signal });
  const worker = new Worker(QUEUE, work, { connection });
  worker.on('error', error => console.error(error));
  await queue.upsertJobScheduler(QUEUE, { every: 60_000 }, { opts: { removeOnComplete: 100, removeOnFail: 100 } });
  return { queue, worker };
}
