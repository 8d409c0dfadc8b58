// The databases that the same scenes play over, and whether this machine has them.
import { describe } from 'vitest';
import { mysqlServers } from '../support/mysql-stores.ts';
import { isFull, lacks } from '../support/skips.ts';
import { hasPostgres, POSTGRES } from '../support/stores.ts';
import { type Database, openDatabase, type PoolLimits } from './database.ts';

/** A server of a database. */
export interface Server {
  name: string;
  port: number;
  open(limits?: PoolLimits): Promise<Database>;
}

const servers = [
  { name: 'Postgres', port: POSTGRES.port, needs: [hasPostgres, 'PostgreSQL at 127.0.0.1:5432'] },
  ...mysqlServers,
] as const;

/**
 * Plays scenes over every database that this machine has.
 *
 * @param isLong whether `npm test` plays them over Postgres only: much of what they prove is the same code
 */
export function describeOver(what: string, scenes: (server: Server) => void, { isLong = false } = {}): void {
  for (const { name, port, needs } of isLong && !isFull ? servers.slice(0, 1) : servers) {
    const [available, missing, isOptional] = needs as readonly [boolean, string, boolean?];
    const isMissing = lacks(available, `${what} over ${name}: no ${missing}`, isOptional);
    const open = (limits?: PoolLimits) => openDatabase(name, limits);
    describe.skipIf(isMissing)(`${what} over ${name}`, () => scenes({ name, port, open }));
  }
}
