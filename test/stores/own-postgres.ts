// Postgres clusters of our own, which tests may stop, kill and copy. Postgres does not run as root: then it is started as
// the user postgres.
import { execFile, spawnSync } from 'node:child_process';
import { chownSync, existsSync, globSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { promisify } from 'node:util';
import pg from 'pg';
import { freePorts } from '../support/ports.ts';

/** The folder of its programs: where Debian puts them, or on the path. */
const bin = [...globSync('/usr/lib/postgresql/*/bin'), ...(process.env.PATH ?? '').split(delimiter)].find(folder =>
  ['initdb', 'pg_ctl', 'pg_basebackup'].every(program => existsSync(join(folder, program))),
);

const idOf = (kind: '-u' | '-g') => Number.parseInt(String(spawnSync('id', [kind, 'postgres']).stdout), 10);

/** Whose processes they are: options of `spawn`. */
export const owner = process.getuid?.() === 0 ? { uid: idOf('-u'), gid: idOf('-g') } : {};

export const hasOwnPostgres = bin !== undefined && !Number.isNaN(owner.uid ?? 0);

/** A folder of the owner's. */
export function ownerFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'payment-gateway-sdk-'));
  if (owner.uid !== undefined) chownSync(folder, owner.uid, owner.gid);
  return folder;
}

async function run(program: string, ...args: string[]): Promise<void> {
  await promisify(execFile)(join(bin ?? '', program), args, { ...owner, cwd: tmpdir(), timeout: 60_000 });
}

export interface Cluster {
  port: number;
  /** A pool of clients, of which an outage leaves none behind. */
  pool(options?: pg.PoolConfig): pg.Pool;
  start(): Promise<void>;
  /** As `kill -9` of all its processes: what is not committed is lost. */
  crash(): Promise<void>;
  stop(): Promise<void>;
  /** Copies it, while it runs, into one that follows it once it is started. */
  copy(): Promise<Cluster>;
  /** Makes a copy one of its own. */
  promote(): Promise<void>;
  remove(): Promise<void>;
}

async function clusterIn(folder: string): Promise<Cluster> {
  const data = join(folder, 'data');
  const [port = 0] = await freePorts(1);
  const settings = `-p ${port} -k ${folder} -c listen_addresses=127.0.0.1 -c shared_buffers=16MB`;
  const control = (...args: string[]) => run('pg_ctl', '-D', data, '-w', '-s', '-l', join(folder, 'log'), ...args);
  const cluster: Cluster = {
    port,
    pool: options => {
      const pool = new pg.Pool({
        host: '127.0.0.1',
        port,
        user: 'postgres',
        database: 'postgres',
        connectionTimeoutMillis: 1_000,
        ...options,
      });
      pool.on('error', () => {});
      return pool;
    },
    start: () => control('-o', settings, 'start'),
    crash: () => control('-m', 'immediate', 'stop'),
    stop: () => control('-m', 'fast', 'stop'),
    copy: async () => {
      const other = ownerFolder();
      const from = ['-h', '127.0.0.1', '-p', String(port), '-U', 'postgres'];
      await run('pg_basebackup', ...from, '-D', join(other, 'data'), '-c', 'fast', '-R', '--no-sync');
      return clusterIn(other);
    },
    promote: () => control('promote'),
    remove: async () => {
      await cluster.crash().catch(() => {});
      rmSync(folder, { recursive: true, force: true });
    },
  };
  return cluster;
}

/** A new cluster, which runs. */
export async function openCluster(): Promise<Cluster> {
  const folder = ownerFolder();
  await run('initdb', '-D', join(folder, 'data'), '-A', 'trust', '-U', 'postgres', '--no-sync', '-E', 'UTF8');
  const cluster = await clusterIn(folder);
  await cluster.start();
  return cluster;
}
