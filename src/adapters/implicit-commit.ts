// Finds statements of MySQL that begin or end a transaction, or before which MySQL commits by itself.

/** What most texts have none of, so that they need no closer look. The version of a comment may stand right before it. */
const SUSPECT =
  /(?:\b|!\d+)(?:begin|start|commit|end|rollback|autocommit|xa|lock|unlock|alter|create|drop|rename|truncate|grant|revoke|analyze|optimize|repair|check|cache|load|install|uninstall|flush|reset|change|stop|set|purge|import|backup)\b/i;

/** Comments and what is quoted, but for comments that are run. */
const OPAQUE =
  /'(?:[^'\\]|\\[\s\S]|'')*'|"(?:[^"\\]|\\[\s\S]|"")*"|`(?:[^`]|``)*`|--(?=[\0- \x7f])[^\n]*|#[^\n]*|\/\*(?!M?!)[\s\S]*?(?:\*\/|$)/g;
/** Those too: a server that is older than the version in it, or of another kind, skips what stands there. */
const OPAQUE_IF_SKIPPED = new RegExp(OPAQUE.source.replace('(?!M?!)', ''), 'g');
const IS_RUN = /\/\*M?!/;
const EXECUTABLE = /\/\*M?!\d*|\*\//g;

const ENDS: readonly RegExp[] = [
  /^(?:begin|commit|xa|end)\b/,
  /^start (?:transaction|slave|replica|group_replication)\b/,
  /^rollback(?! (?:work )?to\b)/,
  /^set (?:.*[ ,])?(?:@@)?(?:session|local|global)?\.?autocommit\b/,
  /^set (?:password|role default|default role)\b/,
  /^(?:lock|unlock) (?:tables?|instance)\b/,
  /^(?:alter|rename|truncate|grant|revoke|analyze|optimize|repair|check|install|uninstall|flush|reset|purge|import|backup)\b/,
  /^(?:create|drop)(?! (?:or replace )?temporary\b)\b/,
  /^(?:cache|load) index\b/,
  /^(?:change|stop) (?:master|slave|replica|replication|all)\b/,
];

const NAME = /^`(\w+)`$/;
/** Of MariaDB: a setting for one statement, which follows. */
const SETTING_FOR = /^set statement .*? for /;

/** Without comments and what is quoted, but for plain names. */
const plain = (sql: string, opaque: RegExp): string =>
  sql
    .replace(opaque, quoted => ` ${NAME.exec(quoted)?.[1] ?? ''} `)
    .replace(EXECUTABLE, ' ')
    .toLowerCase();

/** What one server or another makes of a text. */
const readings = (sql: string): string[] =>
  (IS_RUN.test(sql) ? [OPAQUE, OPAQUE_IF_SKIPPED] : [OPAQUE]).map(opaque => plain(sql, opaque));

const HIDDEN = /(?:\b|!\d+)(?:call|execute|begin)\b/i;

/** Whether what it runs is written elsewhere, and may do so too: a procedure, a statement that was prepared before. */
export const runsHidden = (sql: string): boolean => HIDDEN.test(sql) && readings(sql).some(text => HIDDEN.test(text));

/** Whether one of the statements does so. Those about savepoints and temporary tables do not. */
export function endsTransaction(sql: string): boolean {
  if (!SUSPECT.test(sql)) return false;
  return readings(sql)
    .flatMap(text => text.split(';'))
    .some(statement => {
      const words = statement
        .trim()
        .replace(/\s+/g, ' ')
        .replace(/^\(+ ?/, '')
        .replace(SETTING_FOR, '');
      return ENDS.some(end => end.test(words));
    });
}
