// docs/versioning.md agrees with the package about its tables, entry points and Node.js.
import { mysqlStore } from 'payment-gateway-sdk/mysql';
import { postgresStore } from 'payment-gateway-sdk/postgres';
import { describe, expect, it } from 'vitest';
import { rowsOf, sectionOf, textOf } from './pages.ts';

const PAGE = 'docs/versioning.md';
const pool = { connect: async () => {}, query: async () => ({ rows: [] }), options: { max: 2 } } as never;
const mysqlPool = { getConnection: async () => {} } as never;

describe('docs/versioning.md', () => {
  it('has the versions of the tables', () => {
    const versionIn = (ddl: string) => /version (\d+)/.exec(ddl)?.[1];
    expect(rowsOf(sectionOf(PAGE, 'Tables')).slice(1)).toEqual([
      ['of `postgresStore`', versionIn(postgresStore(pool, { scope: 'x' }).ddl())],
      ['of `mysqlStore`', versionIn(mysqlStore(mysqlPool, { scope: 'x' }).ddl())],
    ]);
  });

  it('has the entry points and the oldest Node.js of package.json', () => {
    const { engines, exports } = JSON.parse(textOf('package.json'));
    expect(rowsOf(sectionOf(PAGE, 'Runtimes'))).toContainEqual([
      'Node.js',
      expect.stringContaining(`${engines.node.replace('>=', '')};`),
    ]);
    for (const entry of Object.keys(exports)) {
      if (/^\.\/[a-z]+$/.test(entry)) expect(textOf(PAGE)).toContain(`\`${entry.slice(1)}\``);
    }
  });
});
