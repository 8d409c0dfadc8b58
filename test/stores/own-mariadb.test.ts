// The servers that the tests of MySQL stand on: what is committed outlasts a crash, and nothing else does.
import type { RowDataPacket } from 'mysql2/promise';
import { expect, test } from 'vitest';
import { hasMariadb, mysqlPool } from '../support/mysql-stores.ts';
import { hasOwnMariadb, ownMariadb } from '../support/own-mariadb.ts';
import { lacks } from '../support/skips.ts';
import { uniqueName } from '../support/stores.ts';

const skip = lacks(hasOwnMariadb && hasMariadb, 'the tests of MariaDB itself: install mariadb-server');

test.skipIf(skip)('keeps what was committed over a crash, and loses what was not', async () => {
  const mariadb = await ownMariadb();
  const pool = mariadb.pool();
  try {
    await pool.query('create table notes (note varchar(20) primary key)');
    await pool.query("insert into notes values ('committed ✓')");
    const open = await pool.getConnection();
    await open.beginTransaction();
    await open.query("insert into notes values ('open')");

    await mariadb.crash();
    await expect(pool.query('select 1')).rejects.toThrow();
    await mariadb.start();

    const [rows] = await pool.query<RowDataPacket[]>('select note from notes');
    expect(rows).toEqual([{ note: 'committed ✓' }]);
  } finally {
    await pool.end().catch(() => {});
    await mariadb.remove();
  }
});

test.skipIf(skip)('prefers the settings of its caller', async () => {
  const mariadb = await ownMariadb('--innodb-flush-log-at-trx-commit=2');
  const pool = mariadb.pool();
  try {
    const [rows] = await pool.query<RowDataPacket[]>('select @@innodb_flush_log_at_trx_commit as flush');
    expect(rows).toEqual([{ flush: 2 }]);
  } finally {
    await pool.end();
    await mariadb.remove();
  }
});

test.skipIf(skip)('is shared by all tests of a run, and an idle connection may break', async () => {
  const [pool, other] = [mysqlPool(), mysqlPool()];
  const table = uniqueName('notes');
  await pool.query(`create table ${table} (note varchar(20))`);
  const [[idle]] = await pool.query<RowDataPacket[]>('select connection_id() as id');
  await other.query(`kill ${idle?.id}`);
  await other.query(`insert into ${table} values ('seen')`);

  await expect.poll(() => pool.query(`select note from ${table}`).then(([rows]) => rows)).toEqual([{ note: 'seen' }]);
  await other.query(`drop table ${table}`);
  await Promise.all([pool.end(), other.end()]);
});
