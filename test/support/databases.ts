// The databases that the same scenes play over, and whether this machine has them.
import { describe } from 'vitest';
import { type Database, openDatabase, type PoolLimits } from './database.ts';
import { mysqlServers } from './mysql-stores.ts';
import { isCi, lacks } from './skips.ts';
import { hasPostgres, POSTGRES } from './stores.ts';

/** A server of a database. */
export interface Server {
  name: string;
  port: number;
  /**
   * Whether what takes long is played. Over Postgres it always is: much of what it proves is the same code, and CI has the
   * time for all.
   */
  readonly isFull: boolean;
  open(limits?: PoolLimits): Promise<Database>;
}

const servers = [
  { name: 'Postgres', port: POSTGRES.port, needs: [hasPostgres, 'PostgreSQL at 127.0.0.1:5432'] },
  ...mysqlServers,
] as const;

/**
 * Plays scenes over every database that this machine has.
 *
 * @param isLong whether only CI plays them over another one than Postgres
 */
export function describeOver(what: string, scenes: (server: Server) => void, { isLong = false } = {}): void {
  for (const { name, port, needs } of servers) {
    const [available, missing, isOptional] = needs as readonly [boolean, string, boolean?];
    const isLeft = isLong && available && name !== 'Postgres' && lacks(isCi, `${what} over ${name}, which CI plays`);
    const isMissing = isLeft || lacks(available, `${what} over ${name}: no ${missing}`, isOptional);
    const server: Server = {
      name,
      port,
      // Told only to those who ask.
      get isFull() {
        return name === 'Postgres' || (!isMissing && !lacks(isCi, `some of ${what} over ${name}, which CI plays`));
      },
      open: limits => openDatabase(name, limits),
    };
    describe.skipIf(isMissing)(`${what} over ${name}`, () => scenes(server));
  }
}
