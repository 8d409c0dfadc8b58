// Which texts begin or end a transaction. lent-client.test.ts compares it with a real Postgres, on texts of random pieces.
import { describe, expect, it } from 'vitest';
import { controlsTransaction } from '../../src/postgres/transaction-control.ts';

describe('a transaction begins or ends with', () => {
  it.each([
    'begin',
    'BEGIN ISOLATION LEVEL SERIALIZABLE',
    'start transaction',
    'commit',
    'Commit and chain',
    'end',
    'abort',
    'rollback',
    'rollback work',
    'rollback transaction',
    'rollback and chain',
    "prepare transaction 'x'",
    'select 1; commit',
    ';;commit',
    'commit;',
    '\n\tcommit',
    // Behind what is closed.
    "select 'it''s'; commit",
    'select "a""b"; commit',
    'select "a"; commit',
    "select '\\'; commit",
    "select E'\\\\'; commit",
    "select e'a\\'b'; commit",
    'select 1 -- a\n; commit',
    'select 1 --\n; commit',
    'select 1 -- a\r; commit',
    '/* a */ commit',
    '/**/ commit',
    '/* a /* b */ c */ commit',
    '/* * / */ commit',
    'select $$;$$; commit',
    'select $a$ $$ $b$ $a$; commit',
    'select $a1$ ; $a1$; commit',
    'select $é1$ ; $é1$; commit',
    'select $1; commit',
    'select a$1$; commit; select 1 as b$1$',
    "select U&'a'; commit",
    'select 1-1; commit',
    'select 1 as e; commit',
    "select n'\\'; commit",
    '/* */*; commit',
    // Only a function that is created has a body of statements.
    'begin atomic; select 1; end',
    'select 1 as atomic; end',
    'create table begin (a int); end',
    'create table a (atomic int); commit',
    'create function f() returns int begin atomic select 1; end; commit',
    'create function f() returns int begin atomic select case when true then 1 end; end; commit',
    'select case when true then 1 end; end',
    'select begin atomic; commit',
    'select case when true then 1; commit',
  ])('%j', text => {
    expect(controlsTransaction(text)).toBe(true);
  });
});

describe('no transaction begins or ends with', () => {
  it.each([
    '',
    'select 1',
    'savepoint a',
    'release a',
    'rollback to a',
    'rollback work to savepoint a',
    'rollback transaction to a',
    'prepare a as select 1',
    'start',
    'select 1 as commit',
    'select commit from a',
    "select ';commit'",
    "select ''';commit'",
    'select ";commit"',
    'select """;commit"',
    "select E'\\';commit'",
    "select e'\\\\\\';commit'",
    "select e'a''\\';commit'",
    'select 1 -- ;commit',
    '-- ;commit',
    '--;commit',
    'select 1 /* ;commit',
    '/* /* */ ;commit',
    '/* ;commit */',
    '/*/ ;commit',
    'select $$ ;commit $$',
    'select $a$ $$;commit $a$',
    'select $a$ ;commit',
    'select $a1$ ;commit $a1$',
    'select $_a1$ ;commit $_a1$',
    'select $é1$ ;commit $é1$',
    'select $$ ;commit',
    "select ' ;commit",
    'create function f() returns int begin atomic select 1; end',
    'create or replace function f() returns int begin atomic select 1; select 2; end',
    'create function f() returns int begin atomic select case when true then 1 end; end',
    'create function f() returns int begin atomic select case when case when true then true end then 1 end; select 2; end',
    'do $$ begin commit; end $$',
  ])('%j', text => {
    expect(controlsTransaction(text)).toBe(false);
  });
});

it('texts of a megabyte are read to their end', { tags: 'long' }, () => {
  for (const text of ['/*'.repeat(500_000), "'".repeat(1_000_001), '$$'.repeat(500_001), '-'.repeat(1_000_000)])
    expect(controlsTransaction(`${text};commit`)).toBe(false);
});
