// Keeps everything that the sandbox holds in a file, so that it goes on from there after a restart or a crash.
import { readFileSync } from 'node:fs';
import { open, rename, rm } from 'node:fs/promises';
import { CommandError } from '../../terminal/program.ts';
import type { SavedSandbox } from '../saved.ts';

/** Milliseconds between two writes; longer where writing takes long. */
const INTERVAL = 1_000;
const PAUSES = 10;

/** @throws {CommandError} for a file that holds no JSON: it is left alone */
export function readState(file: string): SavedSandbox | undefined {
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw new CommandError(`--state: ${file} cannot be read: ${(error as Error).message}`);
  }
  try {
    // The sandbox itself checks what it is given.
    return JSON.parse(text);
  } catch {
    throw notOurs(file);
  }
}

/** A file that no sandbox of this version wrote, or that is damaged. */
export const notOurs = (file: string): CommandError =>
  new CommandError(
    `--state: ${file} is damaged, or not a file of this sandbox. It is left as it is: name another, or delete it.`,
  );

/** Writes it soon after each change, one time after the other. */
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

  /** @throws {CommandError} if it cannot be written */
  async begin(): Promise<void> {
    await this.#write().catch(error => {
      throw new CommandError(`--state: ${this.#file} cannot be written: ${error.message}`);
    });
  }

  /** Something has happened. */
  touch(): void {
    if (this.#isClosed) return;
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined;
      this.#writing = this.#writing.then(() => this.#tryToWrite());
    }, this.#interval);
  }

  /** Writes it for the last time. */
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

  /** To a file beside it, which then takes its place: a crash leaves the one or the other, and both are whole. */
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
