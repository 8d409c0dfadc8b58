// Real processes, each a merchant's replica: callback servers, creators and upkeep over one store.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { Sandbox } from 'payment-gateway-sdk/sandbox';

/** Arguments of Node that runs a script from source. */
export const FROM_SOURCE = ['--no-warnings', '--import', new URL('./from-source.mjs', import.meta.url).href];

const { apiKey, signKey } = new Sandbox().clientOptions;
// Where the SDK looks for them: loading a sandbox would take as long as all the rest.
const KEYS = { NODE_ENV: '', PAYMENT_GATEWAY_API_KEY: apiKey, PAYMENT_GATEWAY_SIGN_KEY: signKey };

/** Starts a script from source with the sandbox's keys. */
const start = (script: string, env: object, output: 'pipe' | 'ignore' = 'pipe'): ChildProcess =>
  spawn(process.execPath, [...FROM_SOURCE, script], {
    env: { ...process.env, ...KEYS, ...env },
    stdio: ['ignore', output, 'inherit'],
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

  /** @param stride how many steps further each process gets */
  constructor(script: string, count: number, stride: number, env: NodeJS.ProcessEnv) {
    let dieAt = 0;
    const begin = () => {
      dieAt += stride;
      const child = start(script, { ...env, DIE_AT: String(dieAt) }, 'ignore');
      this.#children.add(child);
      child.once('exit', (_, signal) => {
        this.#children.delete(child);
        if (this.#isOver) return;
        this.deaths += 1;
        if (signal !== 'SIGKILL') this.failures += 1;
        begin();
      });
    };
    for (let replica = 0; replica < count; replica++) begin();
  }

  stop(): void {
    this.#isOver = true;
    for (const child of this.#children) child.kill('SIGKILL');
  }
}

/** The environment of stores/worker.ts. KILL: the chance that it kills itself inside onPayment, after its write. */
export type WorkerOptions = Record<'STORE' | 'GATEWAY_URL' | 'PREFIX' | 'EFFECTS', string> &
  Partial<Record<'STORE_PORT' | 'KILL', string>>;

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
    const child = start(fileURLToPath(new URL('../stores/worker.ts', import.meta.url)), this.#options);
    this.#process = child;
    child.once('exit', () => {
      this.deaths += 1;
      if (!this.#stopped) void this.start();
    });
    const [line] = await Promise.race([once(child.stdout as never, 'data'), once(child, 'exit').then(() => [''])]);
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

/** The environment of stores/creator.ts. REFERENCES are separated by commas. */
export type CreatorOptions = Record<'DATABASE' | 'GATEWAY_URL' | 'PREFIX' | 'REFERENCES', string> &
  Partial<Record<'PAYMENT_GATEWAY_SIGN_KEY' | 'DIE_AT' | 'UNTIL_DONE' | 'IS_ORDER', string>>;

/** Runs a process that creates payments, and answers what it printed and what killed it. */
export async function runCreator(options: CreatorOptions) {
  const child = start(fileURLToPath(new URL('../stores/creator.ts', import.meta.url)), options);
  const [printed, [, signal]] = await Promise.all([text(child.stdout as never), once(child, 'exit')]);
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
