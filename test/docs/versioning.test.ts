// What docs/versioning.md says of versions is what the package says of itself.
import { mysqlInbox, mysqlJournal } from 'payment-gateway-sdk/mysql';
import { postgresInbox, postgresJournal } from 'payment-gateway-sdk/postgres';
import { describe, expect, it } from 'vitest';
import { rowsOf, sectionOf, textOf } from './pages.ts';

const PAGE = 'docs/versioning.md';
const pool = { connect: async () => {}, query: async () => ({ rows: [] }), options: { max: 2 } } as never;
const mysqlPool = { getConnection: async () => {} } as never;

describe('docs/versioning.md', () => {
  it('has the versions of the tables', () => {
    const versionIn = (ddl: string) => /version (\d+)/.exec(ddl)?.[1];
    expect(rowsOf(sectionOf(PAGE, 'Tables')).slice(1)).toEqual([
      ['of `postgresInbox`', versionIn(postgresInbox(pool).ddl())],
      ['of `postgresJournal`', versionIn(postgresJournal(pool).ddl())],
      ['of `mysqlInbox`', versionIn(mysqlInbox(mysqlPool).ddl())],
      ['of `mysqlJournal`', versionIn(mysqlJournal(mysqlPool).ddl())],
    ]);
  });

  it('has the entry points and the oldest Node.js of package.json', () => {
    const { engines, exports } = JSON.parse(textOf('package.json'));
    expect(rowsOf(sectionOf(PAGE, 'Runtimes'))).toContainEqual([
      'Node.js',
      expect.stringContaining(`${engines.node.replace('>=', '')};`),
    ]);
    const [[, ...rest] = []] = rowsOf(sectionOf(PAGE, 'What counts as public')).slice(1);
    expect(rest).toBeDefined();
    const page = textOf(PAGE);
    for (const entry of Object.keys(exports)) {
      if (/^\.\/[a-z]+$/.test(entry)) expect(page).toContain(`\`${entry.slice(1)}\``);
    }
  });
});
