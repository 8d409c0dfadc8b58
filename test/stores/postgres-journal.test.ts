import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { GatewayClient, type Journal, type JournalRow } from 'payment-gateway-sdk';
import { postgresInbox, postgresJournal } from 'payment-gateway-sdk/postgres';
import { Sandbox } from 'payment-gateway-sdk/sandbox';
import { journalSuite } from 'payment-gateway-sdk/testing';
import type pg from 'pg';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { CARD, errorOf, record } from '../support/fixtures.ts';
import { fakeTimers, whileTimePasses } from '../support/passing-time.ts';
import { lacks } from '../support/skips.ts';
import { hasPostgres, postgresPool, uniqueName } from '../support/stores.ts';
import { watchedPool } from '../support/watched-pool.ts';

describe.skipIf(lacks(hasPostgres, 'postgresJournal: no PostgreSQL at 127.0.0.1:5432'))('postgresJournal', () => {
  const table = uniqueName('journal');
  let pool: pg.Pool;
  let other: pg.Pool;

  beforeAll(async () => {
    pool = postgresPool();
    other = postgresPool();
    await postgresJournal(pool, { table }).migrate();
  });
  afterAll(async () => {
    await pool.query(`drop table ${table}`);
    await Promise.all([pool.end(), other.end()]);
  });

  journalSuite({ test: it, make: () => [postgresJournal(pool, { table }), postgresJournal(other, { table })] });

  const newRow = (): JournalRow => ({
    scope: 'terminal-1',
    reference: randomUUID(),
    state: 'begun',
    attemptId: randomUUID(),
    begunAt: 0,
    timeoutMs: 1000,
    paymentType: 'DEPOSIT',
    paymentMethod: 'CARD',
    amount: '25.5',
    currency: 'EUR',
    bodyHash: 'hash',
    conflictingIds: [],
    looks: 0,
    revision: 1,
  });

  it.each(['insert', 'replace'] as const)(
    'writes durably by %s, even where the database commits lazily',
    async method => {
      const lazy = postgresPool({ max: 1, options: '-c synchronous_commit=off' });
      const journal = postgresJournal(lazy, { table });
      let flushed = 0;
      for (let tries = 0; tries < 30; tries++) {
        const row = newRow();
        if (method === 'replace') await postgresJournal(pool, { table }).insert(row);
        const before = (await lazy.query('select pg_current_wal_insert_lsn()::text as lsn')).rows[0].lsn;
        if (method === 'insert') await journal.insert(row);
        if (method === 'replace') await journal.replace({ ...row, state: 'freed' }, 1);
        const { rows } = await lazy.query('select pg_current_wal_flush_lsn() > $1::pg_lsn as is_flushed', [before]);
        if (rows[0].is_flushed) flushed += 1;
      }
      expect(flushed).toBe(30);
      await lazy.end();
    },
  );

  it.each([
    ['off', 'on'],
    ['local', 'on'],
    ['remote_write', 'on'],
    ['on', 'on'],
    ['remote_apply', 'remote_apply'],
  ])('waits for a synchronous standby: synchronous_commit = %s', async (level, expected) => {
    const name = uniqueName('seen');
    await pool.query(`
      create table ${name} (level text);
      create function ${name}() returns trigger language plpgsql as
        $$ begin insert into ${name} values (current_setting('synchronous_commit')); return null; end $$;
      create trigger ${name} after insert or update on ${table} for each row execute function ${name}()`);
    const weak = postgresPool({ max: 1, options: `-c synchronous_commit=${level}` });
    const journal = postgresJournal(weak, { table });
    const row = newRow();
    await journal.insert(row);
    await journal.replace({ ...row, state: 'freed' }, 1);
    const { rows } = await pool.query(`select level from ${name}`);
    expect(rows).toEqual([{ level: expected }, { level: expected }]);
    await weak.end();
    await pool.query(`drop trigger ${name} on ${table}; drop function ${name}; drop table ${name}`);
  });

  describe('migrate', () => {
    const versionOf = async (name: string): Promise<string> => {
      const { rows } = await pool.query(`select obj_description($1::regclass, 'pg_class') as comment`, [name]);
      return rows[0].comment;
    };
    const indexesOf = async (name: string): Promise<string[]> => {
      const { rows } = await pool.query('select indexname from pg_indexes where tablename = $1 order by 1', [name]);
      return rows.map(({ indexname }) => indexname);
    };
    /** The table as it was before there were versions. */
    const createFirst = (name: string) =>
      pool.query(`CREATE TABLE ${name} (scope text NOT NULL, reference text NOT NULL, state text NOT NULL,
        revision integer NOT NULL, begun_at timestamptz NOT NULL, due_at timestamptz, leased_until timestamptz,
        details json NOT NULL, PRIMARY KEY (scope, reference))`);

    it.each(['no table', 'the table of the first version', 'a table whose comment somebody has changed'])(
      'brings %s up to date, by many replicas at once, and again',
      async before => {
        const name = uniqueName('migrated');
        if (before !== 'no table') await createFirst(name);
        if (before.includes('comment')) await pool.query(`comment on table ${name} is 'belongs to the shop'`);
        const replicas = [pool, other, pool, other].map(pool => postgresJournal(pool, { table: name }));
        const [first] = replicas;
        const row = newRow();
        if (before !== 'no table') await first?.insert(row);
        for (let round = 0; round < 2; round++) await Promise.all(replicas.map(journal => journal.migrate()));
        expect(await versionOf(name)).toBe('payment-gateway-sdk, version 4');
        expect(await indexesOf(name)).toEqual([`${name}_due`, `${name}_open`, `${name}_pkey`, `${name}_planned`]);
        if (before !== 'no table') expect((await first?.read(row))?.row).toMatchObject({ reference: row.reference });
        await pool.query(`drop table ${name}`);
      },
    );

    it('is asked for by name where it was forgotten', async () => {
      const journal = postgresJournal(pool, { table: 'nowhere' });
      const gateway = new GatewayClient({ ...new Sandbox().clientOptions, journal });
      const forgotten = 'relation "nowhere" does not exist: was migrate() called?';
      const error = await errorOf(gateway.createDeposit({ ...CARD, reference: randomUUID() }));
      expect(error).toMatchObject({ name: 'JournalError', outcome: 'not_sent', cause: { code: '42P01' } });
      expect((error as Error).message).toContain(forgotten);
      await expect(gateway.inDoubt()).rejects.toThrow(forgotten);
    });

    it('leaves a table of a later version as it is', async () => {
      const name = uniqueName('later');
      await createFirst(name);
      await pool.query(`comment on table ${name} is 'payment-gateway-sdk, version 99'`);
      await postgresJournal(pool, { table: name }).migrate();
      expect([await versionOf(name), await indexesOf(name)]).toEqual([
        'payment-gateway-sdk, version 99',
        [`${name}_pkey`],
      ]);
      await pool.query(`drop table ${name}`);
    });

    it('is needed no more after the SQL that ddl() prints, by whatever tool', async () => {
      const [journalTable, inboxTable] = [uniqueName('tool'), uniqueName('tool')];
      const [journal, inbox] = [
        postgresJournal(pool, { table: journalTable }),
        postgresInbox(pool, { table: inboxTable }),
      ];
      await pool.query(journal.ddl() + inbox.ddl());
      expect([await versionOf(journalTable), await versionOf(inboxTable)]).toEqual([
        'payment-gateway-sdk, version 4',
        'payment-gateway-sdk, version 1',
      ]);
      expect(await indexesOf(journalTable)).toEqual(
        ['due', 'open', 'pkey', 'planned'].map(name => `${journalTable}_${name}`),
      );
      await Promise.all([journal.migrate(), inbox.migrate()]);
      expect((await journal.insert(newRow())).isInserted).toBe(true);
      await pool.query(`drop table ${journalTable}, ${inboxTable}`);
    });

    it('changes nothing where a step fails, and says why', async () => {
      const name = uniqueName('broken');
      await pool.query(`create table ${name} (scope text)`);
      await expect(postgresJournal(pool, { table: name }).migrate()).rejects.toThrow('column "state" does not exist');
      expect(await versionOf(name)).toBeNull();
      await pool.query(`drop table ${name}`);
    });

    it('finds doubts without reading what is created', async () => {
      const name = uniqueName('large');
      const journal = postgresJournal(pool, { table: name });
      await journal.migrate();
      await pool.query(`insert into ${name} select 's', i::text, 'created', 1, now(), null, null, '{}'
        from generate_series(1, 20000) as i`);
      const { row } = await journal.insert(newRow());
      await pool.query(`analyze ${name}`);
      const statements: [string, unknown[]][] = [];
      const watched = watchedPool(pool, (text, values, send) => {
        statements.push([text, values]);
        return send();
      });
      const spied = postgresJournal(watched, { table: name });
      expect((await spied.list({ scope: row.scope, states: ['begun'] })).rows).toEqual([row]);
      const [[text, values] = ['', []]] = statements;
      const { rows } = await pool.query(`explain ${text}`, values);
      const plan = rows.map(line => line['QUERY PLAN']).join('\n');
      expect(plan).toContain(`${name}_open`);
      expect(plan).not.toContain('Seq Scan');
      await pool.query(`drop table ${name}`);
    });
  });

  it.each(['read', 'list', 'claim', 'insert', 'replace'] as const)(
    'repeats %s when the database says that transactions met, and answers nothing false',
    async method => {
      const row = { ...newRow(), scope: randomUUID(), dueAt: 1 };
      const query = { scope: row.scope, states: ['begun'] } as const;
      await postgresJournal(pool, { table }).insert(row);
      const call = async (journal: Journal): Promise<string> => {
        const answered = await {
          read: () => journal.read(row),
          list: () => journal.list(query),
          claim: () => journal.claim(query, 10, 1000),
          insert: () => journal.insert(row),
          replace: () => journal.replace({ ...row, looks: 1 }, 1),
        }[method]();
        await pool.query(`update ${table} set revision = 1, leased_until = null where scope = $1`, [row.scope]);
        return JSON.stringify(answered, (name, value) => (/^(now|leasedUntil)$/.test(name) ? typeof value : value));
      };
      const meeting = (times: number): Journal => {
        let left = times;
        const met = () => Promise.reject(Object.assign(new Error('could not serialize access'), { code: '40001' }));
        return postgresJournal(
          watchedPool(pool, (_text, _values, send) => (left-- > 0 ? met() : send())),
          { table },
        );
      };
      const undisturbed = await call(meeting(0));
      expect(undisturbed).toContain(method === 'replace' ? '"isReplaced":true' : row.reference);
      expect(await call(meeting(2))).toBe(undisturbed);
      await expect(call(meeting(1_000))).rejects.toThrow('could not serialize access');
    },
  );

  it.each([
    ['two statements', true, ['INSERT', 'UPDATE']],
    ['three, where pg does not tell what is committed,', false, ['INSERT', 'SELECT txid_status', 'UPDATE']],
  ])('makes %s of a create, and two of one that finds it created', async (_, tells, expected) => {
    const statements: string[] = [];
    const watched = watchedPool(pool, (text, _values, send) => {
      statements.push(/^(?:INSERT|UPDATE|SELECT(?: txid_status)?)/.exec(text)?.[0] ?? text);
      return send();
    });
    const silent = async () =>
      Object.assign(Object.create(await watched.connect()), { getTransactionStatus: undefined });
    const journal = postgresJournal(tells ? watched : ({ ...watched, connect: silent } as never), { table });
    const gateway = new GatewayClient({ ...new Sandbox().clientOptions, journal });
    const request = { ...CARD, reference: randomUUID() };
    await gateway.createDeposit(request);
    expect(statements.splice(0)).toEqual(expected);
    expect(await gateway.createDeposit(request)).toHaveProperty('replayed', true);
    expect(statements).toEqual(['INSERT', 'SELECT']);
  });

  it.each([
    ['tells', {}],
    ['does not tell', { getTransactionStatus: undefined }],
  ])(
    'sends no create whose record is in the transaction of somebody who goes on with a released client, where pg %s of it',
    async (_, older) => {
      /** Each INSERT meets a BEGIN, which nobody commits. */
      const racing = {
        async connect() {
          const client = await pool.connect();
          const query = async (text: string, values: unknown[]) => {
            if (text.startsWith('INSERT')) await client.query('BEGIN');
            return client.query(text, values);
          };
          const release = () => client.release(true);
          return Object.assign(Object.create(client), { query, release }, older);
        },
        query() {},
      };
      const sandbox = new Sandbox();
      const journal = postgresJournal(racing as never, { table });
      const gateway = new GatewayClient({ ...sandbox.clientOptions, journal });
      const reference = randomUUID();
      const error = await errorOf(gateway.createDeposit({ ...CARD, reference }));
      expect(error).toMatchObject({ name: 'JournalError', outcome: 'not_sent' });
      expect(String((error as Error).message)).toContain('is in a transaction that somebody began and did not end');
      expect(sandbox.payments).toEqual([]);
      expect(await postgresJournal(pool, { table }).read({ scope: '', reference })).toMatchObject({ row: undefined });
    },
  );

  it('gives up on a pool that is used up, and undoes an attempt that is written too late', async () => {
    const small = postgresPool({ max: 1 });
    const journal = postgresJournal(small, { table });
    const gateway = new GatewayClient({ ...new Sandbox().clientOptions, journal });
    const taken = await small.connect();
    fakeTimers();
    const { message } = (await whileTimePasses(errorOf(gateway.inDoubt()), 100)) as Error;
    expect(message).toContain('The journal did not answer within 5000 ms');
    vi.useRealTimers();
    const request = { ...CARD, reference: randomUUID() };
    const error = await errorOf(gateway.createDeposit(request, { timeout: 50 }));
    expect(error).toMatchObject({ name: 'JournalError', outcome: 'not_sent' });
    taken.release();
    await expect.poll(async () => (await gateway.inDoubt()).filter(d => d.reference === request.reference)).toEqual([]);
    expect(await gateway.createDeposit(request)).toHaveProperty('replayed', false);
    await small.end();
  });

  it('reads what it wrote, though the driver was taught to leave dates and JSON as text', async () => {
    const asText = { getTypeParser: () => (text: string) => text };
    const taught = postgresPool({ types: asText as never });
    const journal = postgresJournal(taught, { table });
    const { row } = await journal.insert(newRow());
    const { description, customer, billingAddress, ...payment } = JSON.parse(record('created, unwrapped'));
    const changed: JournalRow = {
      ...row,
      state: 'created',
      dueAt: 5,
      conflictingIds: [randomUUID()],
      result: { payment },
    };
    expect(await journal.replace(changed, 1)).toEqual({ isReplaced: true, now: expect.any(Number) });
    expect(await journal.read(row)).toEqual({ row: { ...changed, revision: 2 }, now: expect.any(Number) });
    await taught.end();
  });

  it('lets one of many begin under the strictest isolation too', async () => {
    const strict = postgresPool({ options: '-c default_transaction_isolation=serializable' });
    const { reference } = newRow();
    const inserted = await Promise.all(
      Array.from({ length: 20 }, () => postgresJournal(strict, { table }).insert({ ...newRow(), reference })),
    );
    expect(inserted.filter(({ isInserted }) => isInserted)).toHaveLength(1);
    await strict.end();
  });

  it('writes within a transaction of the merchant, and keeps nothing without its commit', async () => {
    const journal = postgresJournal(pool, { table });
    const row = newRow();
    const tx = await pool.connect();
    await tx.query('BEGIN');
    expect(await journal.insert(row, tx)).toHaveProperty('isInserted', true);
    expect((await journal.read(row)).row).toBeUndefined();
    await tx.query('ROLLBACK');
    tx.release();
    expect((await journal.read(row)).row).toBeUndefined();
  });

  it('begins no attempt that a trigger of the table keeps out', async () => {
    const name = uniqueName('kept_out');
    await pool.query(`
      create table ${name} (like ${table} including all);
      create function ${name}() returns trigger language plpgsql as $$ begin return null; end $$;
      create trigger ${name} before insert on ${name} for each row execute function ${name}()`);
    await expect(postgresJournal(pool, { table: name }).insert(newRow())).rejects.toThrow(
      'could neither be written nor found',
    );
    await pool.query(`drop table ${name}; drop function ${name}`);
  });

  it('keeps every letter in a database whose character set has not all of them', async () => {
    const database = uniqueName('latin');
    await pool.query(`create database ${database} encoding 'LATIN1' locale 'C' template template0`);
    const latin = postgresPool({ database });
    try {
      const journal = postgresJournal(latin);
      await journal.migrate();
      const row = { ...newRow(), paymentMethod: 'Łukasz Żółć 注文 😀' };
      await journal.insert(row);
      expect((await journal.read(row)).row).toHaveProperty('paymentMethod', row.paymentMethod);
    } finally {
      await latin.end();
      await pool.query(`drop database ${database}`);
    }
  });

  it('takes no client in place of the pool: in a transaction an attempt could be rolled back', async () => {
    const client = await pool.connect();
    expect(() => postgresJournal(client as never, { table })).toThrow('Pass the pool itself, not a client');
    client.release();
  });

  it('refuses a table name that is none', () => {
    expect(() => postgresJournal(pool, { table: 'a; drop table b' })).toThrow('table must be a plain name');
  });

  it('prints the SQL that docs/doubts.md shows', () => {
    const document = readFileSync(new URL('../../docs/doubts.md', import.meta.url), 'utf8');
    expect(document).toContain(`\`\`\`sql\n${postgresJournal(pool).ddl()}\`\`\``);
  });
});
