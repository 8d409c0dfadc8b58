// Two members of a Galera cluster that both take writes: each has locks of its own, and of two conflicting transactions one is
// undone at its COMMIT.
import { randomUUID } from 'node:crypto';
import { globSync } from 'node:fs';
import type { Pool } from 'mysql2/promise';
import { mysqlInbox, mysqlJournal } from 'payment-gateway-sdk/mysql';
import { journalSuite, type TestFunction } from 'payment-gateway-sdk/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { hasOwnMariadb, type Mariadb, ownMariadb } from '../support/own-mariadb.ts';
import { freePorts } from '../support/ports.ts';
import { isCi, lacks } from '../support/skips.ts';

const [provider = ''] = globSync('/usr/lib/{galera,*/galera}/libgalera_smm.so');
const isThere = hasOwnMariadb && provider !== '';

describe.skipIf(lacks(isThere, 'a cluster: no galera-4') || lacks(isCi, 'a cluster, which CI starts'))(
  'two members',
  () => {
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
      await mysqlInbox(a).migrate();
      await mysqlJournal(a).migrate();
      await a.query(
        'create table credits (payment_id char(36) not null, status varchar(20) not null, id char(36) primary key)',
      );
    }, 120_000);
    afterAll(async () => {
      await Promise.all((pools ?? []).map(pool => pool.end()));
      for (const member of members) await member.remove();
    });

    it('let one of two effects commit that met on two members, whatever their statuses are', async () => {
      const credited = async (id: string) => {
        const [rows] = await (pools[0] as Pool).query('select status from credits where payment_id = ?', [id]);
        return (rows as { status: string }[]).map(({ status }) => status);
      };
      for (const statuses of [
        ['COMPLETED', 'COMPLETED'],
        ['COMPLETED', 'FAILED'],
      ]) {
        for (let round = 0; round < 10; round++) {
          const paymentId = randomUUID();
          const met = Promise.withResolvers<void>();
          let inside = 0;
          const effects = statuses.map((status, index) =>
            mysqlInbox(pools[index] as Pool).run({ paymentId, status, final: true }, async ({ tx }) => {
              inside += 1;
              // The one knows nothing of the lock of the other, so both get inside.
              if (inside === 2) met.resolve();
              await met.promise;
              await tx.query('insert into credits values (?, ?, uuid())', [paymentId, status]);
            }),
          );
          await Promise.allSettled(effects);
          expect(await credited(paymentId)).toHaveLength(1);
        }
      }
    }, 60_000);

    const test: TestFunction = (name, run) => it(name, { timeout: 120_000 }, run);
    journalSuite({ test, make: () => pools.map(pool => mysqlJournal(pool)) as never });
  },
);
