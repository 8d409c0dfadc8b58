// What ends a transaction of MySQL by its text, compared with what a real server makes of each statement.
import type { Pool } from 'mysql2/promise';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { endsTransaction } from '../../src/adapters/implicit-commit.ts';
import { pick, seeded } from '../../src/testing/test-function.ts';
import { mysqlServers } from '../support/mysql-stores.ts';
import { lacks } from '../support/skips.ts';

/** Statements, some of which end a transaction; `lines` and `other` are tables. */
const STATEMENTS = [
  'begin',
  '--\ncommit',
  '-- why\n--\n\ncommit',
  '--\u0001\ncommit',
  '--\u007f\ncommit',
  "/* why:\n it's done */ commit",
  "/* why:\n it's done; commit */ select 1",
  '/*!50000commit */',
  "/*!99999 it's done */ commit",
  'create or replace temporary table part (a int)',
  'BEGIN WORK',
  'start transaction',
  'START  TRANSACTION READ WRITE',
  '/* why */ start /* oh */ transaction',
  'commit',
  'Commit Work',
  'commit and chain',
  'rollback',
  'rollback work',
  'ROLLBACK TO SAVEPOINT ours',
  'rollback to ours',
  'rollback work to savepoint ours',
  'savepoint theirs',
  'release savepoint ours_too',
  'create table if not exists made (a int)',
  'create temporary table if not exists part (a int)',
  'drop temporary table if exists part',
  'drop table if exists made',
  'alter table other add column if not exists more int',
  'truncate other',
  'TRUNCATE TABLE other',
  'rename table other to another, another to other',
  'create or replace view seen as select 1',
  'drop view if exists seen',
  'create index if not exists by_line on other (line)',
  'drop index if exists by_line on other',
  'drop procedure if exists nothing',
  'analyze table other',
  'optimize table other',
  'check table other',
  'repair table other',
  'flush tables',
  'flush status',
  'lock tables other write',
  'create user if not exists someone',
  "grant select on *.* to someone@'%'",
  "revoke select on *.* from someone@'%'",
  'drop user if exists someone',
  '/*!50000 commit */',
  '/*M!100000 commit */',
  '/*! create table if not exists made (a int) */',
  '/* commit */ select 1',
  '-- commit\nselect 1',
  '# commit\nselect 1',
  'select 1 -- ; commit',
  "select 'it''s; commit'",
  "select 'a\\'; commit; '",
  'select "; commit"',
  'select 1 as `; commit`',
  "insert into other values ('commit')",
  "update other set line = 'drop table' where line = 'begin'",
  'delete from other',
  'select case when 1 then 2 end',
  'set @begin = 1',
  'do 1',
  'call does_nothing()',
  'show tables',
  'explain select 1',
  'select * from other for update',
  "load data local infile '/nowhere' into table other",
  'select 1 lock in share mode',
  'replace into other values (1)',
  'with recursive start as (select 1) select * from start',
  '(select 1) union (select 2)',
];

/** What quotes, comments and ends statements, and what only looks like it. */
const PIECES = [
  ...["'", "''", "'x'", '\\', "\\'", '"', '""', '`', '`x`', 'x', '1', ',', "n'x'", "_utf8'x'", 'ä'],
  ...[
    '--',
    '-- ',
    '--\n',
    '#',
    '\n',
    '\r',
    '\t',
    '\u0001',
    '\u007f',
    '\u00a0',
    '/*',
    '*/',
    '/*!',
    '/*!50000',
    '/*!99999',
    '/*!999999',
    '/*M!',
  ],
  ...['/**/', "/*'*/", '/*"\n`*/', '-', '*', '/', '!', '(', ')', ' ', ' ', ';', ';', ';'],
  ...[
    'commit',
    'COMMIT',
    'rollback',
    'begin',
    'start',
    'transaction',
    'rollback to ours',
    'savepoint x',
    'end',
    'to',
    'work',
  ],
  ...[
    'select',
    'select 1',
    "select '",
    'do 1',
    'as x',
    'set @x = 1',
    'autocommit',
    'set',
    '=',
    'drop temporary table if exists x',
  ],
];

for (const { name, needs, pool: open } of mysqlServers) {
  describe.skipIf(lacks(...(needs as [boolean, string, boolean])))(`a statement over ${name}`, () => {
    let pool: Pool;
    beforeAll(async () => {
      pool = open({ connectionLimit: 1 });
      await pool.query('create table if not exists other (line varchar(99))');
      await pool.query('create procedure if not exists does_nothing() begin end');
    });
    afterAll(async () => {
      await pool.query('drop table other');
      await pool.query('drop procedure does_nothing');
      await pool.end();
    });

    it('is of one mind with the server, for 4,000 texts of random pieces', { timeout: 30_000 }, async () => {
      const own = open({ connectionLimit: 1, multipleStatements: true });
      const connection = await own.getConnection();
      const random = seeded(20_261_123);
      const seen = { ended: 0, ran: 0 };
      for (let index = 0; index < 4_000; index++) {
        const pieces = Array.from({ length: 1 + Math.floor(random() * 8) }, () => pick(random, PIECES));
        const text = pieces.join(pick(random, [' ', '']));
        await connection.query('set autocommit = 1; begin; savepoint ours');
        const failed = await connection.query(text).catch(() => true);
        const isSame = await connection.query('rollback to savepoint ours').then(
          () => true,
          () => false,
        );
        await connection.query('rollback');
        if (!isSame) {
          seen.ended += 1;
          expect([text, endsTransaction(text)]).toEqual([text, true]);
        } else if (failed !== true && !/\/\*M?!/.test(text)) {
          seen.ran += 1;
          expect([text, endsTransaction(text)]).toEqual([text, false]);
        }
      }
      connection.release();
      await own.end();
      expect(seen.ended).toBeGreaterThan(50);
      expect(seen.ran).toBeGreaterThan(100);
    });

    it.each(STATEMENTS)('ends its transaction, or not, as its text says: %s', async statement => {
      const connection = await pool.getConnection();
      await connection.query('unlock tables');
      await connection.query('begin');
      await connection.query('savepoint ours');
      await connection.query('savepoint ours_too');
      await connection.query(statement).catch(() => {});
      const error = await connection.query('rollback to savepoint ours').then(
        () => undefined,
        ({ errno }) => errno,
      );
      await connection.query('rollback');
      connection.release();
      expect([undefined, 1305]).toContain(error);
      expect(endsTransaction(statement)).toBe(error === 1305);
    });
  });
}

describe('a statement that may end a transaction, or begin one that does not end', () => {
  it.each([
    'set autocommit = 1',
    'unlock tables',
    'SET @@session.autocommit=0',
    'set @a = 1, autocommit = 0',
    "set sql_mode = '', session autocommit = 1",
    "xa start 'x'",
    'select 1; commit',
    'insert into other values (1);\n\ndrop table other;',
    "set password = password('x')",
    'set statement max_statement_time = 10 for rollback',
    'set statement max_statement_time = 10, sort_buffer_size = 1024 for truncate table other',
    'set default role none',
    'backup lock other',
    'set `autocommit` = 0',
    'set @@session.`autocommit` = 0',
    'create or replace table made (a int)',
  ])('is refused: %s', statement => {
    expect(endsTransaction(statement)).toBe(true);
  });

  it('is looked for in a text that does not end', () => {
    for (const text of ["'", '/*', '`', '"', '--', '#', 'commit /*', "begin '"]) {
      expect(endsTransaction(text)).toBe(/commit|begin/.test(text));
    }
  });
});
