// BullMQ, on Redis: a job every minute, in whichever replica takes it.
import { type ConnectionOptions, Queue, Worker } from 'bullmq';
import { type Payments, upkeep } from '../../examples/upkeep.ts';

const QUEUE = 'payments-upkeep';

/** @returns close both when the app ends: what has begun is finished */
export async function scheduleUpkeep(connection: ConnectionOptions, payments: Payments) {
  const queue = new Queue(QUEUE, { connection });
  const worker = new Worker(QUEUE, async (_job, _token, signal) => upkeep(payments, signal), { connection });
  worker.on('error', error => console.error(error));
  const opts = { removeOnComplete: 100, removeOnFail: 100 };
  await queue.upsertJobScheduler(QUEUE, { every: 60_000 }, { opts });
  return { queue, worker };
}
