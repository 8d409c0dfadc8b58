// Keeps all state of the sandbox in a file.
import { existsSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { parseJson } from '../../schemas/json.ts';
import { CommandError } from '../../terminal/program.ts';
import { isSavedSandbox, type SavedSandbox } from '../saved.ts';

/** Milliseconds between two writes, longer after slow writes. */
const INTERVAL = 1_000;
const PAUSES = 10;

const failure = (file: string, what: 'read' | 'written', error: unknown) =>
  new CommandError(`--state: ${file} cannot be ${what}: ${(error as Error).message}`);

/** @throws {CommandError} for another file. It stays unchanged */
function read(file: string): SavedSandbox | undefined {
  if (!existsSync(file)) return undefined;
  try {
    const saved = parseJson(readFileSync(file, 'utf8'))?.value;
    if (isSavedSandbox(saved)) return saved;
  } catch (error) {
    throw failure(file, 'read', error);
  }
  throw new CommandError(
    `--state: ${file} is damaged, or not a file of this sandbox. It is left as it is: name another, or delete it.`,
  );
}

/** Keeps other servers away. The lock of a crashed one does not count. @returns a function that unlocks the file */
function lock(file: string): () => void {
  const path = `${file}.lock`;
  const write = (flag: 'wx' | 'w') => writeFileSync(path, String(process.pid), { flag, mode: 0o600 });
  try {
    write('wx');
  } catch (error) {
    if (!existsSync(path)) throw failure(file, 'written', error);
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

function isRunning(pid: number) {
  try {
    return pid > 0 && process.kill(pid, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

/** Locks the file. @throws {CommandError} */
export function stateFile(file: string, save: () => SavedSandbox, complain: (message: string) => void) {
  const unlock = lock(file);
  const saved = read(file);
  let timer: NodeJS.Timeout | undefined;
  let interval = INTERVAL;
  let hasFailed = false;

  /** Renames a new file, so that a crash leaves one whole file. Reports the first of several failures. */
  function write() {
    clearTimeout(timer);
    timer = undefined;
    const begun = performance.now();
    const beside = `${file}.${process.pid}.new`;
    try {
      writeFileSync(beside, JSON.stringify(save()), { mode: 0o600, flush: true });
      renameSync(beside, file);
      hasFailed = false;
    } catch (error) {
      if (!hasFailed) complain(failure(file, 'written', error).message);
      hasFailed = true;
      rmSync(beside, { force: true });
    }
    interval = Math.max(INTERVAL, PAUSES * (performance.now() - begun));
  }

  return {
    saved,
    write,
    touch: () => {
      timer ??= setTimeout(write, interval);
    },
    close: () => {
      write();
      unlock();
    },
  };
}
