// docs/mysql.md shows the code that test/orms runs, and the tables as they are made.
import { readdirSync, readFileSync } from 'node:fs';
import { mysqlInbox, mysqlJournal } from 'payment-gateway-sdk/mysql';
import { expect, it } from 'vitest';
import { expectDocumented } from '../support/documents.ts';

const folder = new URL('../orms/mysql2/', import.meta.url);
const pool = { getConnection: async () => {} } as never;

it('docs/mysql.md shows the code that is run', () => {
  const files = readdirSync(folder).filter(name => name !== 'listed.test.ts');
  expect(files).toHaveLength(3);
  for (const file of files) {
    const code = readFileSync(new URL(file, folder), 'utf8').trim();
    expectDocumented('mysql.md', file, `\`\`\`typescript\n${code}\n\`\`\``);
  }
});

it('docs/mysql.md shows the tables', () => {
  const ddl = `${mysqlJournal(pool).ddl()}\n${mysqlInbox(pool).ddl()}`.trim();
  expectDocumented('mysql.md', 'ddl', `\`\`\`sql\n${ddl}\n\`\`\``);
});
