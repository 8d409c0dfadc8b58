// biome-ignore-all lint/suspicious/noTemplateCurlyInString: parts of template literals of the source
// Changes of what Stryker cannot reach, because the tests of it need real stores: SQL, Lua, and the code around them.

export interface StoreMutant {
  file: string;
  /** A text that the file has once. */
  from: string;
  to: string;
  /** The file in test/stores that must fail. */
  test: string;
}

const changesOf =
  (file: string) =>
  (test: string, from: string, to: string): StoreMutant => ({ file: `src/${file}`, from, to, test });

const postgresInbox = changesOf('postgres/inbox-sql.ts');
const postgresJournal = changesOf('postgres/journal-sql.ts');
const mysqlInbox = changesOf('mysql/inbox-sql.ts');
const mysqlJournal = changesOf('mysql/journal-sql.ts');
const redis = changesOf('redis/inbox.ts');
const inbox = changesOf('sql/inbox.ts');
const bounded = changesOf('sql/bounded.ts');

/** By file, and there by what it is about: locks, marks, transactions, revisions, leases, scopes, durability. */
export const STORE_MUTANTS: readonly StoreMutant[] = [
  postgresInbox('postgres-inbox', 'pg_try_advisory_xact_lock($1::text::bigint)::text', "(left($1::text, 0) || 'true')"),
  postgresInbox('postgres-inbox', 'pg_try_advisory_xact_lock', 'pg_try_advisory_lock'),
  postgresInbox('sql-database', "answer.isolation !== 'read committed'", 'false'),
  postgresInbox('sql-database', "await query('SAVEPOINT payment_gateway_inbox')", "await query('SELECT 1')"),
  postgresInbox('effect-uncertain', '(handled_at IS NULL)::text AS begun', "'false' AS begun"),
  postgresInbox('postgres-inbox', 'final::text, (handled_at IS NULL)', "'false' AS final, (handled_at IS NULL)"),
  postgresInbox('postgres-inbox', 'PRIMARY KEY (payment_id, status)', 'PRIMARY KEY (payment_id)'),
  postgresInbox(
    'effect-uncertain',
    'AND handled_at IS NULL RETURNING status`,\n\n  again',
    'RETURNING status`,\n\n  again',
  ),
  postgresInbox(
    'effect-uncertain',
    'AND handled_at IS NULL RETURNING status`,\n\n  migr',
    'RETURNING status`,\n\n  migr',
  ),
  postgresInbox('effect-uncertain', 'AND txid_current()::text = $3::text', 'AND $3::text = $3::text'),
  postgresInbox('effect-uncertain', '\n    ON CONFLICT DO NOTHING', ''),
  postgresInbox('effect-uncertain', "new Set(['3B001', NO_TRANSACTION])", 'new Set([NO_TRANSACTION])'),
  postgresInbox(
    'orms',
    "'SELECT txid_status($1::text::bigint) AS status'",
    "`SELECT 'committed' AS status, $1::text AS xid`",
  ),

  postgresJournal('postgres-journal', "durably('1')", "String('1')"),
  postgresJournal(
    'postgres-journal',
    "durably('revision + 1')}, begun_at = ${moment",
    "String('revision + 1')}, begun_at = ${moment",
  ),
  postgresJournal(
    'postgres-journal',
    "durably('revision + 1')}, begun_at = ${moment",
    "durably('revision')}, begun_at = ${moment",
  ),
  postgresJournal('plan', 'revision = row.revision + 1', 'revision = row.revision'),
  postgresJournal('postgres-journal', 'AND revision = $8::text::integer', 'AND $8::text IS NOT NULL'),
  postgresJournal(
    'postgres-journal',
    'scope, reference) DO NOTHING\n      RETURNING',
    'scope, reference) DO UPDATE SET state = excluded.state\n      RETURNING',
  ),
  postgresJournal('postgres-journal', "const key = 'scope = $1::text", "const key = '$1::text = $1::text"),
  postgresJournal('postgres-journal', "' AND scope = $1::text'", "' AND $1::text = $1::text'"),
  postgresJournal('postgres-journal', "' AND scope = $4::text'", "' AND $4::text = $4::text'"),
  postgresJournal(
    'postgres-journal',
    "`state IN (${states.map(state => `'${state}'`).join(', ')})`",
    '`${states.length} > 0`',
  ),
  postgresJournal('postgres-journal', 'ON true ORDER BY begun_at', 'ON true ORDER BY begun_at DESC'),
  postgresJournal('postgres-journal', 'AND due_at <= now()', "AND due_at <= now() + interval '1 day'"),
  postgresJournal('postgres-journal', 'coalesce(leased_until <= now(), true)', 'true'),
  postgresJournal('postgres-journal', 'coalesce(leased_until <= now(), true)', 'leased_until <= now()'),
  postgresJournal('postgres-journal', "begun_at <= now() - ${interval('$3')}", "${interval('$3')} IS NOT NULL"),
  postgresJournal('postgres-journal', 'ORDER BY due_at LIMIT', 'ORDER BY due_at DESC LIMIT'),
  postgresJournal('postgres-journal', 'LIMIT $1::text::bigint', 'LIMIT $1::text::bigint + 1'),
  postgresJournal('postgres-journal', ' FOR UPDATE SKIP LOCKED', ''),
  postgresJournal('postgres-journal', 'SET revision = revision + 1,', 'SET revision = revision,'),
  postgresJournal(
    'postgres-journal',
    "clock_timestamp() + ${interval('$2')}",
    "clock_timestamp() + 0 * ${interval('$2')}",
  ),
  postgresJournal('sql-database', "lines[0]?.replica === 'true'", 'false'),
  postgresJournal('plan', "${written} WHERE ${holds('$7')}", '${written} WHERE $7::text = $7::text'),
  postgresJournal(
    'postgres-plan',
    "AND NOT EXISTS (SELECT FROM ${journal} WHERE ${key} AND state <> 'freed')",
    'AND $1::text = $1::text',
  ),
  postgresJournal('plan', "state <> 'freed'", "state <> 'none'"),
  postgresJournal('plan', "WHERE row.state = 'freed'", "WHERE row.state <> 'none'"),
  postgresJournal('plan', 'due_at = excluded.due_at', 'due_at = row.due_at'),
  postgresJournal('plan', "(${holds('$3')})::text AS held", "'true' AS held"),
  postgresJournal('plan', '${tickets} || $1::text, true)', '${tickets} || $1::text, false)'),
  postgresJournal('postgres-plan', '${tickets} || $1::text, true)', '$1::text, true)'),
  postgresJournal('postgres-plan', "${leave('$7')}${channel", "'' AS tickets${channel"),
  postgresJournal('postgres-plan', "${leave('$3')}", "'' AS tickets"),
  postgresJournal('plan', 'LIKE \'%"isRetry":true%\'', "LIKE 'true'"),
  postgresJournal('plan', 'query(sql.enter, [ticket]),', 'await query(sql.enter, [ticket]),'),
  postgresJournal('postgres-plan', "pg_notify($8::text, '')::text", '$8::text'),
  postgresJournal('postgres-plan', "due_at) WHERE state = 'planned'", "due_at) WHERE state = 'created'"),
  postgresJournal('postgres-plan', "(begun_at) WHERE state = 'begun'", "(begun_at) WHERE state = 'created'"),

  mysqlInbox('mysql-suites', ' FOR UPDATE SKIP LOCKED', ' FOR UPDATE'),
  mysqlInbox('mysql-hazards', ' FOR UPDATE SKIP LOCKED', ''),
  mysqlInbox(
    'mysql-hazards',
    '\n    WHERE payment_id = ? AND marks = ${TEXT}',
    '\n    WHERE payment_id = ? AND ${TEXT} IS NOT NULL',
  ),
  mysqlInbox('mysql-hazards', "table.includes('.') ? table : `${row.name}.${table}`", 'table'),
  mysqlInbox(
    'mysql-hazards',
    "marks.some(mark => mark.status === status && !mark.begun) ? 'committed' : 'undone'",
    "marks && status && 'committed'",
  ),
  mysqlInbox(
    'effect-uncertain',
    'if (!(await hasSavepoint(query, `${OWN}RELEASE SAVEPOINT ${SAVEPOINT}`))) return false;',
    '',
  ),
  mysqlInbox('effect-uncertain', 'isEnded: async query => !(await', 'isEnded: async query => false && !(await'),
  mysqlInbox('effect-uncertain', 'final, begun: true }', 'final }'),
  mysqlInbox('effect-uncertain', 'mark => mark.status === status && mark.begun', 'mark => mark.status === status'),
  mysqlInbox('effect-uncertain', 'marks.filter(mark => mark.status !== status)', '[]'),

  mysqlJournal('mysql-suites', 'AND revision = CAST(? AS UNSIGNED)', 'AND CAST(? AS UNSIGNED) IS NOT NULL'),
  mysqlJournal('mysql-suites', 'state = ?, revision = revision + 1', 'state = ?, revision = revision'),
  mysqlJournal('mysql-suites', 'SET revision = revision + 1,', 'SET revision = revision,'),
  mysqlJournal('mysql-suites', 'AND due_at <= ${NOW}', 'AND due_at IS NOT NULL'),
  mysqlJournal('mysql-suites', ' AND (leased_until IS NULL OR leased_until <= ${NOW})', ''),
  mysqlJournal('mysql-suites', 'leased_until IS NULL OR leased_until <= ${NOW}', 'leased_until <= ${NOW}'),
  mysqlJournal(
    'mysql-suites',
    'begun_at <= ${NOW} - INTERVAL CAST(? AS SIGNED) * 1000 MICROSECOND',
    'CAST(? AS SIGNED) IS NOT NULL',
  ),
  mysqlJournal('mysql-suites', '.slice(0, limit)', ''),
  mysqlJournal('mysql-suites', '` AND scope = ${TEXT}`', '` AND ${TEXT} IS NOT NULL`'),
  mysqlJournal('mysql-hazards', ' FOR UPDATE SKIP LOCKED', ' FOR UPDATE'),
  mysqlJournal('mysql-hazards', 'WHERE ${ticket} FOR UPDATE NOWAIT`', 'WHERE ${ticket}`'),
  mysqlJournal('mysql-hazards', "line?.replica === '1'", 'false'),
  mysqlJournal('mysql-hazards', 'this.read(query, row).catch(afterWrite)', 'this.read(query, row)'),
  mysqlJournal(
    'plan',
    'AS ticket WHERE ${ticket} AND @payment_gateway_plan = ?',
    'AS ticket WHERE ${ticket} AND ? IS NOT NULL',
  ),
  mysqlJournal('plan', "IF(${journal}.state = 'freed', ", 'IF(true, '),
  mysqlJournal(
    'plan',
    "revision: `${journal}.revision + 1`,\n    state: 'VALUES(state)',",
    "state: 'VALUES(state)',\n    revision: `${journal}.revision + 1`,",
  ),
  mysqlJournal('plan', 'LIKE \'%"isRetry":true%\'', "LIKE 'true'"),
  mysqlJournal(
    'plan',
    'query(sql.leave, [ticket]),\n        query(sql.left',
    "query('SELECT 1'),\n        query(sql.left",
  ),
  mysqlJournal('plan', 'query(sql.leave, [ticket]).catch(afterWrite)', "query('SELECT 1')"),
  mysqlJournal('plan', 'query(sql.enter, [ticket]),', 'await query(sql.enter, [ticket]),'),
  mysqlJournal('mysql-hazards', '!isSame || !answer', '!answer'),

  redis('redis-inbox', "'NX', 'PX'", "'PX'"),
  redis('redis-inbox', "'NX', 'PX', ARGV[2]", "'NX'"),
  redis('redis-inbox', "redis.call('GET', KEYS[1]) == ARGV[1]\n    or ", ''),
  redis('redis-inbox', "isOurs and '1' or '0'", "'1'"),
  redis('redis-inbox', "if redis.call('GET', KEYS[1]) == ARGV[1] then return redis", 'if true then return redis'),
  redis(
    'redis-inbox',
    "if redis.call('GET', KEYS[1]) == ARGV[1] then redis.call('DEL'",
    "if true then redis.call('DEL'",
  ),
  redis('redis-inbox', "if ARGV[2] then redis.call('HSET', KEYS[2], ARGV[2], ARGV[3]) end", ''),
  redis('redis-inbox', "final ? '1' : '0'", "'0'"),
  redis('redis-inbox', 'if (isOurs) await leaveQuietly();', ''),
  redis('redis-inbox', 'else lose();', ''),

  changesOf('inbox/contract.ts')('postgres-inbox', '[20, 40, 80, 160, 320, 640]', '[]'),
  changesOf('payments/create.ts')('late', 'awaitsAnswer: true', 'awaitsAnswer: false'),
  inbox('effect-uncertain', 'if (!isComplete) throw new Ended(begun);', ''),
  inbox('effect-uncertain', '(await sql.isEnded(query)) ? new Ended(begun, error) : error', 'error'),
  inbox('mysql-hazards', "taken.answer === 'ran'", 'false'),

  bounded('postgres-inbox', 'Math.floor(max / 2)', 'max'),
  bounded('postgres-inbox', 'MOST_TRIES = 10', 'MOST_TRIES = 9'),
  bounded('postgres-inbox', "'40P01', ", ''),
];
