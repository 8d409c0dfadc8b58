// Which statements of MySQL end a transaction, by their texts alone: quotes and comments by
// https://dev.mysql.com/doc/refman/8.4/en/comments.html and https://dev.mysql.com/doc/refman/8.4/en/string-literals.html, and
// statements by https://dev.mysql.com/doc/refman/8.4/en/implicit-commit.html. test/stores/implicit-commit.test.ts asks servers.
import { describe, expect, it } from 'vitest';
import { endsTransaction, runsHidden } from '../../src/adapters/implicit-commit.ts';

const ENDS = [
  'begin',
  'begin work',
  'commit',
  'commit and chain',
  'end',
  "xa end 'a'",
  'start transaction',
  'start transaction read only',
  'start slave',
  'start replica',
  'start group_replication',
  'rollback',
  'rollback work',
  'rollback and chain',
  'rollback tomorrow',
  'set autocommit=1',
  'set autocommit = 0',
  'set session autocommit = 0',
  'set global autocommit = 0',
  'set local autocommit = 0',
  'set @@autocommit = 0',
  'set @@session.autocommit = 0',
  'set @@global.autocommit = 0',
  'set @@local.autocommit = 0',
  'set @a = 1, autocommit = 0',
  'set @a = 1,autocommit = 0',
  'set @a = 1, @@session.autocommit = 0',
  "set password = 'x'",
  "set password for a = 'x'",
  'set role default',
  'set default role none',
  'lock tables a write',
  'lock table a read',
  'lock instance for backup',
  'unlock tables',
  'unlock table',
  'unlock instance',
  'alter table a add b int',
  'rename table a to b',
  'truncate a',
  'grant all on a to b',
  'revoke all on a from b',
  'analyze table a',
  'optimize table a',
  'repair table a',
  'check table a',
  'install plugin a',
  'uninstall plugin a',
  'flush tables',
  'reset master',
  'purge binary logs',
  'import table from a',
  'backup lock a',
  'create table a (b int)',
  'create or replace table a (b int)',
  'create or replace view a as select 1',
  'create temporary_table',
  'drop table a',
  'drop view a',
  'cache index a in b',
  'load index into cache a',
  'change master to a',
  'change replication source to a',
  'stop slave',
  'stop replica',
  'stop all slaves',
];

const GO_ON = [
  'select 1',
  'select * from started',
  'select begin_at from a',
  'start',
  'start 1',
  'select commit from a',
  'rollback to a',
  'rollback to savepoint a',
  'rollback work to a',
  'rollback work to savepoint a',
  'savepoint a',
  'release savepoint a',
  'set autocommitted = 1',
  'set @begin = 1',
  'set passwords = 1',
  'set names utf8mb4',
  'set role a',
  'set default_role = 1',
  'lock',
  'lock in share mode',
  'unlocked',
  'create temporary table a (b int)',
  'create or replace temporary table a (b int)',
  'drop temporary table a',
  "load data infile 'a' into table b",
  'cache a',
  'stop',
  'change a',
  'insert into a values (1) on duplicate key update b = 2',
  'update a set altered = 1',
  // Names of columns and of tables.
  'update a set autocommit = 1',
  "update a set password = 'x'",
  'update a set b.password = 1',
  'update a set a.reset = 1',
  'select rollback from a',
  'select a.start slave from a',
  'select a.lock instance from a',
  'select a.check from a',
  'select a.create from a',
  'select a.cache `index` from a',
  'select a.change `all` from a',
  'set `a``autocommit` = 0',
  'set `autocommit``a` = 0',
  'select 1; -- `commit`',
  'alterations',
];

describe('a statement', () => {
  it.each(ENDS)('ends its transaction, in whatever case and wherever it stands: %s', statement => {
    expect(endsTransaction(statement)).toBe(true);
    expect(endsTransaction(statement.toUpperCase())).toBe(true);
    expect(endsTransaction(`\n\t ${statement.replaceAll(' ', '\n  ')}`)).toBe(true);
    expect(endsTransaction(`select 1;${statement}`)).toBe(true);
    expect(endsTransaction(`${statement};select 1`)).toBe(true);
    expect(endsTransaction(`((${statement}`)).toBe(true);
    expect(endsTransaction(`( ${statement}`)).toBe(true);
    expect(endsTransaction(`set statement max_statement_time = 1 for ${statement}`)).toBe(true);
  });

  it.each(GO_ON)('does not end it: %s', statement => {
    expect(endsTransaction(statement)).toBe(false);
    expect(endsTransaction(statement.toUpperCase())).toBe(false);
    expect(endsTransaction(`${statement}; select 1`)).toBe(false);
  });
});

describe('what is quoted or a comment', () => {
  it.each([
    "select '; commit'",
    "select 'a''; commit; '",
    "select 'a\\'; commit; '",
    "select 'a\\\\\\'; commit; '",
    "select '\n; commit'",
    "select '\\\n; commit'",
    'select "; commit"',
    'select "a""; commit; "',
    'select "a\\"; commit; "',
    'select "\n; commit"',
    'select "\\\n; commit"',
    'select `; commit`',
    'select `a``; commit; `',
    'select `\n; commit`',
    'select 1 -- ; commit',
    'select 1 --\t; commit',
    'select 1 # ; commit',
    'select 1 #; commit',
    'select 1 /* ; commit */',
    'select 1 /*\n; commit */',
    'select 1 /* ; commit',
    'select 1 /* * / ; commit */',
    '/*+ begin */ select 1',
    "select '/*', '; commit'",
    'select "\'", "; commit"',
    "select '\"', '; commit'",
    "/*!99999 select 1, */ select '; commit'",
  ])('is not looked into: %s', text => {
    expect(endsTransaction(text)).toBe(false);
  });

  it.each([
    "select ''; commit",
    "select ''''; commit",
    "select 'a'; commit; select 'b'",
    "select 'a\\\\'; commit; select 'b'",
    "select 'it''s'; commit",
    'select ""; commit',
    'select "a\\\\"; commit; select "b"',
    'select "a""b"; commit',
    'select `a`; commit; select `b`',
    'select `a``b`; commit',
    'select `a\\`; commit',
    'select 1 -- a\n; commit',
    'select 1 --\n; commit',
    'select 1--1; commit',
    'select 1 # a\n; commit',
    'select 1 #\n; commit',
    'select 1 /* a */; commit',
    'select 1 /**/; commit',
    '/* a */ commit /* b */',
    'commit/* a */',
    '/* a\n */commit',
    '-- a\ncommit',
    'start/**/transaction',
    // MySQL and MariaDB run these.
    '/*! commit */',
    '/*!commit*/',
    '/*!50000 commit */',
    '/*!50000commit */',
    '/*M! commit */',
    '/*M!100000 commit */',
    'select 1 /*! ; commit */',
    '/*! start */ transaction',
    '/*!start*/transaction',
    '--\ncommit',
    '-- a\n--\ncommit',
    '--\u0001\ncommit',
    '--\u007f\ncommit',
    "/* a\n it's */ commit",
    // What an older server, or one of the other kind, skips.
    "/*!99999 it's */ commit",
    "/*M!999999 it's */ commit",
    '/*!99999 select 1 # */ ; commit',
  ])('ends where it ends: %s', text => {
    expect(endsTransaction(text)).toBe(true);
  });

  it('may be the name of a setting', () => {
    expect(endsTransaction('set `autocommit` = 0')).toBe(true);
    expect(endsTransaction('set @@session.`autocommit` = 0')).toBe(true);
    // Neither name is one.
    expect(endsTransaction('set `auto commit` = 0')).toBe(false);
    expect(endsTransaction("set 'autocommit' = 0")).toBe(false);
  });
});

describe('what runs statements that are written elsewhere', () => {
  it.each([
    'call pay()',
    'CALL pay()',
    '/*!50000call pay() */',
    "/*!99999 it's */ call pay()",
    'execute prepared',
    'begin not atomic call pay(); end',
    'select 1; call pay()',
  ])('may end a transaction unseen: %s', text => {
    expect(runsHidden(text)).toBe(true);
  });

  it.each(["select 'call'", '/* call */ select 1', 'select called from a', 'update executed set a = 1', 'select 1'])(
    'is told from the rest: %s',
    text => {
      expect(runsHidden(text)).toBe(false);
    },
  );
});
