// Two members of a Galera cluster that both take writes. Each has its own locks, and undoes one of two conflicting
// transactions at its COMMIT.

import { randomUUID } from 'node:crypto';
import { globSync } from 'node:fs';
import type { Pool } from 'mysql2/promise';
import { mysqlStore } from 'payment-gateway-sdk/mysql';
import { storeSuite, type TestFunction } from 'payment-gateway-sdk/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { hasOwnMariadb, type Mariadb, ownMariadb } from '../support/own-mariadb.ts';
import { freePorts } from '../support/ports.ts';
import { lacks } from '../support/skips.ts';
import { suiteTest } from '../support/suite-test.ts';
import { inTransactionOf, paid } from './store-rows.ts';

const [provider = ''] = globSync('/usr/lib/{galera,*/galera}/libgalera_smm.so');
const isThere = hasOwnMariadb && provider !== '';

describe.skipIf(lacks(isThere, 'a cluster: no galera-4'))('two members', () => {
  const members: Mariadb[] = [];
  let pools: Pool[];

  async function join(
    addresses: readonly string[],
    [port, transferPort, copyPort]: readonly number[],
  ): Promise<Mariadb> {
    return ownMariadb(
      '--wsrep-on=ON',
      `--wsrep-provider=${provider}`,
      `--wsrep-cluster-address=gcomm://${addresses.join()}`,
      `--wsrep-provider-options=gmcast.listen_addr=tcp://127.0.0.1:${port};ist.recv_addr=127.0.0.1:${transferPort};gcache.size=8M`,
      '--wsrep-node-address=127.0.0.1',
      '--wsrep-sst-method=rsync',
      `--wsrep-sst-receive-address=127.0.0.1:${copyPort}`,
      '--binlog-format=ROW',
      '--innodb-autoinc-lock-mode=2',
    );
  }

  beforeAll(async () => {
    const ports = await freePorts(6);
    members.push(await join([], ports.slice(0, 3)));
    members.push(await join([`127.0.0.1:${ports[0]}`], ports.slice(3)));
    pools = members.map(member => {
      const pool = member.pool({ connectionLimit: 20 });
      // A member waits until it has what the others have committed: docs/mysql.md
      pool.on('connection', connection => void connection.query('set session wsrep_sync_wait = 15'));
      return pool;
    });
    const [a] = pools as [Pool];
    const [rows] = await a.query("show status like 'wsrep_cluster_size'");
    expect((rows as { Value: string }[])[0]?.Value).toBe('2');
    await mysqlStore(a, { scope: 'any' }).migrate();
    await a.query('create table credits (payment_id char(36) not null, id char(36) primary key)');
  }, 120_000);
  afterAll(async () => {
    await Promise.all((pools ?? []).map(pool => pool.end()));
    for (const member of members) await member.remove();
  });

  it('let each of two effects that met on two members see the other one', async () => {
    for (let round = 0; round < 10; round++) {
      const id = randomUUID();
      const met = Promise.withResolvers<void>();
      let inside = 0;
      const effects = pools.map(pool =>
        mysqlStore(pool, { scope: 'met' }).effect({ id, about: {}, reads: [] }, async ({ tx, payment }) => {
          if (payment) return undefined;
          inside += 1;
          // Neither member knows the lock of the other, so both get inside.
          if (inside === 2) met.resolve();
          await met.promise;
          await tx.query('insert into credits values (?, uuid())', [id]);
          return [paid(id)];
        }),
      );
      expect((await Promise.allSettled(effects)).map(result => (result as { value?: string }).value)).toContain('done');
      const [rows] = await (pools[0] as Pool).query('select count(*) as times from credits where payment_id = ?', [id]);
      expect((rows as { times: number }[])[0]?.times).toBe(1);
    }
  }, 60_000);

  /** A member does not see the locks of another one: of two that conflict, the first COMMIT wins. */
  const LOCKS = /busy while another|meet at a new payment|that has locked the row/;
  const test: TestFunction = (name, run) => (LOCKS.test(name) ? it.skip : suiteTest)(name, run);
  storeSuite({
    test,
    open: scope => pools.map(pool => mysqlStore(pool, { scope })) as never,
    transaction: work => inTransactionOf(pools[0] as Pool)(work),
  });
});
