// Keeps all state of the sandbox in a file, so that it survives a restart or a crash.
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { open, rename, rm } from 'node:fs/promises';
import { CommandError } from '../../terminal/program.ts';
import type { SavedSandbox } from '../saved.ts';

/** Milliseconds between two writes, longer after slow writes. */
const INTERVAL = 1_000;
const PAUSES = 10;

/** @throws {CommandError} for a file without JSON. The file stays unchanged */
export function readState(file: string): SavedSandbox | undefined {
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw new CommandError(`--state: ${file} cannot be read: ${(error as Error).message}`);
  }
  try {
    // The sandbox itself checks the value.
    return JSON.parse(text);
  } catch {
    throw notOurs(file);
  }
}

/** The error for a damaged file, or one that this version did not write. */
export const notOurs = (file: string): CommandError =>
  new CommandError(
    `--state: ${file} is damaged, or not a file of this sandbox. It is left as it is: name another, or delete it.`,
  );

/** Keeps other servers away from the file. The lock of a crashed one does not count. @returns a function that unlocks it */
export function lockState(file: string): () => void {
  const lock = `${file}.lock`;
  const write = (flag: 'wx' | 'w') => writeFileSync(lock, String(process.pid), { flag, mode: 0o600 });
  try {
    write('wx');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw notWritten(file, error as Error);
    const owner = Number(readFileSync(lock, 'utf8'));
    if (owner !== process.pid && isRunning(owner)) {
      throw new CommandError(
        `--state: ${file} belongs to the sandbox with the process id ${owner}, which is running. Stop that one, or name another file.`,
      );
    }
    write('w');
  }
  return () => rmSync(lock, { force: true });
}

function isRunning(pid: number): boolean {
  try {
    return pid > 0 && process.kill(pid, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

const notWritten = (file: string, { message }: Error) =>
  new CommandError(`--state: ${file} cannot be written: ${message}`);

/** Writes the file soon after each change, one write at a time. */
export class StateFile {
  readonly #file: string;
  readonly #save: () => SavedSandbox;
  readonly #complain: (message: string) => void;
  #timer: NodeJS.Timeout | undefined;
  #writing: Promise<void> = Promise.resolve();
  #interval = INTERVAL;
  #hasFailed = false;
  #isClosed = false;

  constructor(file: string, save: () => SavedSandbox, complain: (message: string) => void) {
    this.#file = file;
    this.#save = save;
    this.#complain = complain;
  }

  /** @throws {CommandError} if the file cannot be written */
  async begin(): Promise<void> {
    await this.#write().catch(error => {
      throw notWritten(this.#file, error);
    });
  }

  /** Schedules a write after a change. */
  touch(): void {
    if (this.#isClosed) return;
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined;
      this.#writing = this.#writing.then(() => this.#tryToWrite());
    }, this.#interval);
  }

  /** Writes the file for the last time. */
  async close(): Promise<void> {
    this.#isClosed = true;
    clearTimeout(this.#timer);
    await this.#writing;
    await this.#tryToWrite();
  }

  async #tryToWrite(): Promise<void> {
    const begun = performance.now();
    try {
      await this.#write();
      this.#hasFailed = false;
    } catch (error) {
      if (!this.#hasFailed) this.#complain(`--state: not written: ${(error as Error).message}`);
      this.#hasFailed = true;
    }
    this.#interval = Math.max(INTERVAL, PAUSES * (performance.now() - begun));
  }

  /** Writes a new file and then renames it, so that a crash leaves one whole file. */
  async #write(): Promise<void> {
    const beside = `${this.#file}.${process.pid}.new`;
    try {
      const handle = await open(beside, 'w', 0o600);
      try {
        await handle.writeFile(JSON.stringify(this.#save()));
        await handle.sync();
      } finally {
        await handle.close();
      }
      await rename(beside, this.#file);
    } catch (error) {
      await rm(beside).catch(() => {});
      throw error;
    }
  }
}
