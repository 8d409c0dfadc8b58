// Graphile Worker: a task, and a line of its crontab.
import { type Runner, type RunnerOptions, run } from 'graphile-worker';
import { type Payments, upkeep } from '../../examples/upkeep.ts';

/** @param options of yours: how to connect, further tasks */
export function runUpkeep(options: RunnerOptions, payments: Payments): Promise<Runner> {
  return run({
    ...options,
    taskList: { ...options.taskList, upkeep: async (_, { abortSignal }) => void (await upkeep(payments, abortSignal)) },
    // One waits at most, and one that failed is not repeated: the next minute comes.
    crontab: `${options.crontab ?? ''}\n* * * * * upkeep ?jobKey=upkeep&max=1`,
  });
}
