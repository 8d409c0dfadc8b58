// Real worker processes, each a merchant's replica: a callback server over an inbox.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { Sandbox } from 'payment-gateway-sdk/sandbox';

/** Arguments of Node that runs a script from source. */
export const FROM_SOURCE = ['--no-warnings', '--import', new URL('./from-source.mjs', import.meta.url).href];

const worker = fileURLToPath(new URL('../stores/worker.ts', import.meta.url));
const creator = fileURLToPath(new URL('../stores/creator.ts', import.meta.url));

const { apiKey, signKey } = new Sandbox().clientOptions;

/** With the sandbox's keys, where the SDK looks for them: loading a sandbox would take as long as all the rest. */
const environment = (own: object): NodeJS.ProcessEnv => ({
  ...process.env,
  NODE_ENV: '',
  PAYMENT_GATEWAY_API_KEY: apiKey,
  PAYMENT_GATEWAY_SIGN_KEY: signKey,
  ...own,
});

/**
 * A script that runs in so many processes. Each kills itself at a step, DIE_AT, and is followed by one that gets further: so
 * some die for certain, wherever they are, and the last ones finish the work.
 */
export class Replicas {
  deaths = 0;
  /** How many ended otherwise than by SIGKILL: what they did not catch, they have printed. */
  failures = 0;
  readonly #children = new Set<ChildProcess>();
  #isOver = false;

  /** @param env what the script is told beside the environment @param stride how many steps further each process gets */
  constructor(script: string, count: number, stride: number, env: NodeJS.ProcessEnv) {
    let dieAt = 0;
    const start = () => {
      dieAt += stride;
      const child = spawn(process.execPath, [...FROM_SOURCE, script], {
        env: environment({ ...env, DIE_AT: String(dieAt) }),
        stdio: ['ignore', 'ignore', 'inherit'],
      });
      this.#children.add(child);
      child.once('exit', (_, signal) => {
        this.#children.delete(child);
        if (this.#isOver) return;
        this.deaths += 1;
        if (signal !== 'SIGKILL') this.failures += 1;
        start();
      });
    };
    for (let replica = 0; replica < count; replica++) start();
  }

  stop(): void {
    this.#isOver = true;
    for (const child of this.#children) child.kill('SIGKILL');
  }
}

export interface WorkerOptions {
  /** The name of a database. */
  STORE: string;
  GATEWAY_URL: string;
  /** Of the store's table. */
  PREFIX: string;
  /** The table of effects. */
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
    const child = spawn(process.execPath, [...FROM_SOURCE, worker], {
      env: environment(this.#options),
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

export interface CreatorOptions {
  /** The name of one. */
  DATABASE: string;
  GATEWAY_URL: string;
  /** Of the store's table. */
  PREFIX: string;
  /** Separated by commas. */
  REFERENCES: string;
  /** Other than the sandbox's: every create is refused. */
  PAYMENT_GATEWAY_SIGN_KEY?: string;
  /** The step at which the process kills itself. */
  DIE_AT?: string;
  /** Set to anything, it creates each reference until it has its payment. */
  UNTIL_DONE?: string;
  /** Set to anything, each reference is an order to check out. */
  IS_ORDER?: string;
}

/** Runs a process that creates payments, and answers what it printed and what killed it. */
export async function runCreator(options: CreatorOptions) {
  const child = spawn(process.execPath, [...FROM_SOURCE, creator], {
    env: environment(options),
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const [printed, [, signal]] = await Promise.all([text(child.stdout), once(child, 'exit')]);
  const lines = printed.split('\n').filter(Boolean);
  return { lines: lines.map(line => JSON.parse(line)), signal: signal as NodeJS.Signals | null };
}

/** Works a list off, so many at a time. */
export async function inParallel<T>(
  items: readonly T[],
  lanes: number,
  work: (item: T) => Promise<unknown>,
): Promise<void> {
  const rest = items.values();
  await Promise.all(
    Array.from({ length: lanes }, async () => {
      for (const item of rest) await work(item);
    }),
  );
}
