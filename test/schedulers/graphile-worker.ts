// Graphile Worker: a task, and a line of its crontab.
import { type Runner, type RunnerOptions, run } from 'graphile-worker';
import { gateway, handler } from './payments.ts';

/** @param options your own: the connection, further tasks */
export function runUpkeep(options: RunnerOptions): Promise<Runner> {
  return run({
    ...options,
    taskList: {
      ...options.taskList,
      upkeep: async (_, { abortSignal: signal }) => void (await gateway.upkeep({ handler, once: true, signal })),
    },
    crontab: `${options.crontab ?? ''}\n* * * * * upkeep ?jobKey=upkeep&max=1`,
  });
}
