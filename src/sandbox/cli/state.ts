// Keeps all state of the sandbox in a file, so that it survives a restart or a crash.
import { readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { parseJson } from '../../schemas/json.ts';
import { CommandError } from '../../terminal/program.ts';
import { isSavedSandbox, type SavedSandbox } from '../saved.ts';

/** Milliseconds between two writes, longer after slow writes. */
const INTERVAL = 1_000;
const PAUSES = 10;

/** @throws {CommandError} for another file. It stays unchanged */
function read(file: string): SavedSandbox | undefined {
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw new CommandError(`--state: ${file} cannot be read: ${(error as Error).message}`);
  }
  const saved = parseJson(text)?.value;
  if (isSavedSandbox(saved)) return saved;
  throw new CommandError(
    `--state: ${file} is damaged, or not a file of this sandbox. It is left as it is: name another, or delete it.`,
  );
}

/** Keeps other servers away from the file. The lock of a crashed one does not count. @returns a function that unlocks it */
function lock(file: string): () => void {
  const path = `${file}.lock`;
  const write = (flag: 'wx' | 'w') => writeFileSync(path, String(process.pid), { flag, mode: 0o600 });
  try {
    write('wx');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw notWritten(file, error as Error);
    const owner = Number(readFileSync(path, 'utf8'));
    if (owner !== process.pid && isRunning(owner)) {
      throw new CommandError(
        `--state: ${file} belongs to the sandbox with the process id ${owner}, which is running. Stop that one, or name another file.`,
      );
    }
    write('w');
  }
  return () => rmSync(path, { force: true });
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

/** Locks a file. @returns its state, and functions that keep it up to date. @throws {CommandError} */
export function stateFile(file: string, save: () => SavedSandbox, complain: (message: string) => void) {
  const unlock = lock(file);
  const saved = read(file);
  let timer: NodeJS.Timeout | undefined;
  let interval = INTERVAL;
  let hasFailed = false;

  /** Writes a new file and then renames it, so that a crash leaves one whole file. Reports the first of some failures. */
  function write(): void {
    clearTimeout(timer);
    timer = undefined;
    const begun = performance.now();
    const beside = `${file}.${process.pid}.new`;
    try {
      writeFileSync(beside, JSON.stringify(save()), { mode: 0o600, flush: true });
      renameSync(beside, file);
      hasFailed = false;
    } catch (error) {
      if (!hasFailed) complain(notWritten(file, error as Error).message);
      hasFailed = true;
      rmSync(beside, { force: true });
    }
    interval = Math.max(INTERVAL, PAUSES * (performance.now() - begun));
  }

  function touch(): void {
    timer ??= setTimeout(write, interval);
  }

  function close(): void {
    write();
    unlock();
  }

  return { saved, write, touch, close };
}
