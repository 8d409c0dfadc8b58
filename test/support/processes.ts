// Real worker processes, each a merchant's replica: a callback server over an inbox.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

const script = fileURLToPath(new URL('../stores/worker.ts', import.meta.url));

export interface WorkerOptions {
  STORE: 'postgres' | 'redis';
  GATEWAY_URL: string;
  /** The table, or the prefix, of marks. */
  MARKS: string;
  /** The table, or the list, of effects. */
  EFFECTS: string;
  /** Port of the store, if it is not the usual one. */
  STORE_PORT?: string;
  /** Chance that the worker kills itself inside onPayment, after its write. */
  KILL?: string;
}

export class Worker {
  url = '';
  deaths = 0;
  #process: ChildProcess | undefined;
  readonly #options: WorkerOptions;
  #stopped = false;

  constructor(options: WorkerOptions) {
    this.#options = options;
  }

  /** Starts the process, and another one whenever it dies. */
  async start(): Promise<this> {
    const child = spawn(process.execPath, ['--no-warnings', script], {
      env: { ...process.env, NODE_ENV: '', ...this.#options },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    this.#process = child;
    child.once('exit', () => {
      this.deaths += 1;
      if (!this.#stopped) void this.start();
    });
    const [line] = await Promise.race([once(child.stdout, 'data'), once(child, 'exit').then(() => [''])]);
    if (String(line).startsWith('http')) this.url = String(line).trim();
    return this;
  }

  kill(): void {
    this.#process?.kill('SIGKILL');
  }

  stop(): void {
    this.#stopped = true;
    this.kill();
  }
}
