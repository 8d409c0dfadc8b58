// The servers of MySQL and MariaDB that tests run against, and whether this machine has them. To import it starts MariaDB.
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import type { Pool, PoolOptions } from 'mysql2/promise';
import { quietPool } from './own-mariadb.ts';

/** Asks the setup of this run for its MariaDB. */
async function offered(): Promise<{ port: number; socketPath: string } | undefined> {
  const desk = Number(process.env.PAYMENT_GATEWAY_TEST_MARIADB);
  if (!desk) return;
  const { error, ...place } = JSON.parse(await text(connect(desk, '127.0.0.1')));
  if (error) throw new Error(error);
  return place;
}

const place = await offered();

export const hasMariadb: boolean = place !== undefined;

/** For libraries that open their own connections. */
export const MYSQL = { host: '127.0.0.1', port: place?.port ?? 0, user: 'root', database: 'test' };

export const mysqlPool = (options: PoolOptions = {}): Pool => quietPool({ ...MYSQL, ...options });

/** MySQL 8 or later, where somebody runs it. Tests create tables in its database. */
const url = process.env.PAYMENT_GATEWAY_MYSQL_URL;

export const hasMysql8 = url !== undefined;
export const mysql8Pool = (options: PoolOptions = {}): Pool => quietPool({ uri: url ?? '', ...options });

/** What tests of a store can run on, each with the arguments of `lacks`. */
export const mysqlServers = [
  { name: 'MariaDB', port: MYSQL.port, pool: mysqlPool, needs: [hasMariadb, 'MariaDB: install mariadb-server'] },
  {
    name: 'MySQL 8',
    port: Number(new URL(url ?? 'mysql://').port || 3306),
    pool: mysql8Pool,
    needs: [hasMysql8, 'MySQL 8: set PAYMENT_GATEWAY_MYSQL_URL=mysql://root@127.0.0.1:3306/test', true],
  },
] as const;
