// MariaDB servers of our own, which tests may stop and kill.
import { type ChildProcess, execFile, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { chownSync, existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir, userInfo } from 'node:os';
import { delimiter, join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { promisify } from 'node:util';
import { createConnection, createPool, type Pool, type PoolOptions } from 'mysql2/promise';
import { freePorts } from './ports.ts';

/** Where a program is: on the path, or where Debian puts it, which the path of a user lacks. */
const find = (program: string): string | undefined =>
  [...(process.env.PATH ?? '').split(delimiter), '/usr/sbin', '/usr/bin']
    .map(folder => join(folder, program))
    .find(path => existsSync(path));

const server = find('mariadbd');
const installer = find('mariadb-install-db');

export const hasOwnMariadb: boolean = server !== undefined && installer !== undefined;

const idOf = (kind: '-u' | '-g') => Number.parseInt(String(spawnSync('id', [kind, 'mysql']).stdout), 10);
const isRoot = process.getuid?.() === 0;
/** Whose processes they are, as Debian has it: of root's, rsync gives a cluster nothing. */
const owner = isRoot && !Number.isNaN(idOf('-u')) ? { uid: idOf('-u'), gid: idOf('-g') } : {};
/** Without it MariaDB refuses to run as root. */
const user = `--user=${isRoot && owner.uid !== undefined ? 'mysql' : userInfo().username}`;
/** As little as it takes, so that it starts fast. */
const SMALL = ['--innodb-log-file-size=4M', '--innodb-buffer-pool-size=16M', '--aria-pagecache-buffer-size=8M'];
const SETTINGS = [
  ...SMALL,
  '--key-buffer-size=8M',
  '--innodb-flush-log-at-trx-commit=1',
  '--character-set-server=utf8mb4',
  '--bind-address=127.0.0.1',
  '--skip-name-resolve',
];

/** A server of our own. */
export type Mariadb = ReturnType<typeof serverIn>;

/** A pool whose connections may break while nobody uses them. */
export function quietPool(options: PoolOptions): Pool {
  const pool = createPool(options);
  pool.on('connection', connection => connection.on('error', () => {}));
  return pool;
}

const hasEnded = ({ exitCode, signalCode }: ChildProcess) => exitCode !== null || signalCode !== null;

/** Ends a process and removes its folder once this process is gone, however it went. */
function guard(child: ChildProcess, folder: string): void {
  const script = 'read -r _; kill -9 "$0" && rm -rf "$1"';
  const guardian = spawn('sh', ['-c', script, String(child.pid), folder], {
    detached: true,
    stdio: ['pipe', 'ignore', 'ignore'],
  });
  child.once('exit', () => guardian.kill());
  guardian.unref();
  child.unref();
}

function serverIn(folder: string, port: number, settings: readonly string[]) {
  const socketPath = join(folder, 'socket');
  const log = join(folder, 'log.err');
  const place = [`--datadir=${join(folder, 'data')}`, `--socket=${socketPath}`, `--port=${port}`];
  const files = [`--log-error=${log}`, `--pid-file=${join(folder, 'server.pid')}`];
  let child: ChildProcess | undefined;

  const end = async (signal: NodeJS.Signals) => {
    if (!child || hasEnded(child)) return;
    const ended = once(child, 'exit');
    child.ref();
    child.kill(signal);
    await ended;
  };
  /** A member of a cluster takes connections before it takes statements. */
  const answers = async (): Promise<boolean> => {
    try {
      const connection = await createConnection({ socketPath, user: 'root' });
      await connection.query('create database if not exists test').finally(() => connection.end());
      return true;
    } catch {
      return false;
    }
  };

  const mariadb = {
    port,
    socketPath,
    /** A pool on its database `test`, of which an outage leaves no error behind. */
    pool: (options?: PoolOptions) => quietPool({ host: '127.0.0.1', port, user: 'root', database: 'test', ...options }),
    async start() {
      const started = spawn(server ?? '', ['--no-defaults', user, ...place, ...files, ...SETTINGS, ...settings], {
        ...owner,
        cwd: folder,
        stdio: 'ignore',
      });
      child = started;
      guard(started, folder);
      for (const deadline = Date.now() + 60_000; !(await answers()); await wait(20)) {
        if (!hasEnded(started) && Date.now() < deadline) continue;
        await end('SIGKILL');
        const told = existsSync(log) ? readFileSync(log, 'utf8').slice(-2_000) : 'it left no log';
        throw new Error(`MariaDB does not start: ${told}`);
      }
    },
    stop: () => end('SIGTERM'),
    /** As `kill -9`: what is not committed is lost. */
    crash: () => end('SIGKILL'),
    async signal(signal: 'SIGSTOP' | 'SIGCONT') {
      child?.kill(signal);
      // Its threads may run for a moment yet.
      if (signal === 'SIGSTOP') await wait(100);
    },
    remove: async () => {
      await mariadb.crash();
      rmSync(folder, { recursive: true, force: true });
    },
  };
  return mariadb;
}

/**
 * A new server, which runs. Its root has no password.
 *
 * @param settings as on its command line; they win over the defaults here
 */
export async function ownMariadb(...settings: string[]): Promise<Mariadb> {
  const folder = mkdtempSync(join(tmpdir(), 'payment-gateway-sdk-'));
  if (owner.uid !== undefined) chownSync(folder, owner.uid, owner.gid);
  const [port = 0] = await freePorts(1);
  const mariadb = serverIn(folder, port, settings);
  try {
    await promisify(execFile)(
      installer ?? '',
      [
        '--no-defaults',
        user,
        `--datadir=${join(folder, 'data')}`,
        '--auth-root-authentication-method=normal',
        '--skip-test-db',
        '--skip-name-resolve',
        ...SMALL,
      ],
      { ...owner, cwd: folder, timeout: 60_000 },
    );
    await mariadb.start();
  } catch (error) {
    await mariadb.remove();
    throw error;
  }
  return mariadb;
}
