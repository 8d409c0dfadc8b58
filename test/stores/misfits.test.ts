// What is passed where a database belongs and is none: refused at once, with what to pass instead.
import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import {
  fromDrizzle,
  fromKnex,
  fromKysely,
  fromPostgresJs,
  fromPrisma,
  fromTypeOrm,
  postgresInbox,
  postgresJournal,
} from 'payment-gateway-sdk/postgres';
import pg from 'pg';
import { describe, expect, it } from 'vitest';
import { expectDocumented } from '../support/documents.ts';
import { errorOf, PAYOUT } from '../support/fixtures.ts';
import { folder, hasOrms, hasPrisma } from '../support/install-orms.ts';
import { things } from '../support/misfits.ts';
import { isCi, lacks } from '../support/skips.ts';

const missing = lacks(hasOrms(), 'what does not fit the stores: npm ci in test/orms failed');

// biome-ignore lint/suspicious/noExplicitAny: the wrong types are the point
type Given = any;

describe.skipIf(missing)('what does not fit', () => {
  it.each([
    ['fromDrizzle', 'drizzle'],
    ['fromKysely', 'kysely'],
    ['fromKnex', 'knex'],
    ['fromPostgresJs', 'sql'],
    ['fromTypeOrm', 'dataSource'],
    ['fromPrisma', 'prisma'],
  ] as const)('names %s where it is the adapter', (adapter, name) => {
    const given = things()[name];
    expect(() => postgresInbox(given)).toThrow(`What was passed is for ${adapter}().`);
    const others = { fromDrizzle, fromKysely, fromKnex, fromPostgresJs, fromTypeOrm, fromPrisma };
    for (const [other, pass] of Object.entries(others)) {
      if (other === adapter) expect(() => pass(given)).not.toThrow();
      else expect(() => pass(given), other).toThrow(`What was passed is for ${adapter}().`);
    }
  });
});

describe.skipIf(missing)('a DataSource that is not connected yet', () => {
  it('is taken, and asks to be initialised before the first payment', async () => {
    const { dataSource } = things();
    const inbox = postgresInbox(fromTypeOrm(dataSource));
    const running = inbox.run({ paymentId: 'a', status: 'COMPLETED', final: true }, async () => {});
    await expect(running).rejects.toThrow('await dataSource.initialize() before the first payment');
    await expect(postgresJournal(fromTypeOrm(dataSource)).list({ states: ['begun'] })).rejects.toThrow(
      'await dataSource.initialize()',
    );
  });
});

describe.skipIf(missing)('a handle that is no transaction', () => {
  it.each([
    ['a pool', 'pool.connect()', () => new pg.Pool(), (given: Given) => given],
    ['Drizzle', 'db.transaction(async tx => …)', () => things().drizzle, fromDrizzle],
    ['Kysely', 'db.transaction().execute(async trx => …)', () => things().kysely, fromKysely],
    ['Knex', 'knex.transaction(async trx => …)', () => things().knex, fromKnex],
    ['postgres.js', 'sql.begin(async sql => …)', () => things().sql, fromPostgresJs],
    ['TypeORM', 'dataSource.transaction(async manager => …)', () => things().dataSource, fromTypeOrm],
    ['Prisma', 'prisma.$transaction(async tx => …)', () => things().prisma, fromPrisma],
  ] as [string, string, () => Given, (given: Given) => Given][])(
    'is not planned in, and the error says what is: over %s',
    async (_, wanted, make, adapter) => {
      const handle = make();
      const journal = postgresJournal(adapter(handle), { scope: 'eu' });
      const request = { ...PAYOUT, paymentType: 'WITHDRAWAL' } as const;
      for (const wrong of [handle.manager ?? handle, {}, 'tx']) {
        const error = await errorOf(journal.plan(wrong, request));
        expect(error).toMatchObject({ name: 'ConfigurationError', message: expect.stringContaining(wanted) });
        expect((error as Error).message).toMatch(/^plan takes as its tx .*\. Nothing was planned\.$/);
      }
      for (const args of [[request, handle], [request]] as Given[]) {
        const error = await errorOf(journal.plan(...(args as [Given, Given])));
        expect(error).toMatchObject({
          name: 'ConfigurationError',
          message: expect.stringContaining('journal.plan(tx, request)'),
        });
      }
    },
  );

  it('of another library is named by its adapter', async () => {
    const { drizzle, prismaTx } = things();
    const journal = postgresJournal(fromDrizzle(drizzle), { scope: 'eu' });
    await expect(journal.plan(prismaTx as Given, PAYOUT as Given)).rejects.toThrow(
      'what was passed is for fromPrisma()',
    );
  });
});

describe('docs/orms', () => {
  it.skipIf(missing || lacks(isCi, "the types of docs/orms: CI's, because they take long"))(
    "has code that the libraries' own types agree with",
    () => {
      // Without Prisma's generated client, what it makes is not checked.
      const project = `${folder}tsconfig${hasPrisma ? '' : '.quick'}.json`;
      const tsc = fileURLToPath(new URL('../../node_modules/typescript/bin/tsc', import.meta.url));
      const { stdout, status } = spawnSync(process.execPath, [tsc, '-p', project], { encoding: 'utf8' });
      expect([stdout, status]).toEqual(['', 0]);
    },
    120_000,
  );

  const pages = readdirSync(new URL('../../docs/orms', import.meta.url)).map(name => name.replace('.md', ''));

  it.each(pages)('shows of %s the code that is run', page => {
    const files = readdirSync(`${folder}${page}`).filter(
      name => /\.(ts|prisma)$/.test(name) && !name.includes('config') && name !== 'listed.test.ts',
    );
    expect(files.length).toBeGreaterThan(2);
    for (const file of files) {
      if (!existsSync(`${folder}${page}/${file}`)) continue;
      const language = file.endsWith('.prisma') ? 'prisma' : 'typescript';
      const code = readFileSync(`${folder}${page}/${file}`, 'utf8').trim();
      expectDocumented(`orms/${page}.md`, file, `\`\`\`${language}\n${code}\n\`\`\``);
    }
  });
});
