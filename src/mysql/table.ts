// The table of a store in MySQL.
import { createHash } from 'node:crypto';
import type { Migrations } from '../sql/table.ts';
import { LONGEST } from '../store/key.ts';

/** In backticks, because ANSI_QUOTES gives double quotes another meaning. */
export const quoted = (table: string) => `\`${table.replace('.', '`.`')}\``;

/** Each commits alone, so it must be able to run again. Never change a published one: add another. */
export function migrationsOf(table: string): Migrations {
  const [name = '', schema] = table.split('.').reverse();
  const lock = `'payment-gateway-sdk ${createHash('sha256').update(table).digest('hex').slice(0, 32)}'`;
  return {
    // InnoDB has transactions, and DYNAMIC the widest keys. Servers have other defaults.
    steps: [
      `CREATE TABLE IF NOT EXISTS ${quoted(table)} (
  scope varbinary(${LONGEST.scope}) NOT NULL,
  kind varchar(16) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  id varbinary(${LONGEST.reference}) NOT NULL,
  state varchar(16) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  revision int NOT NULL,
  begun_at datetime(3) NOT NULL,
  due_at datetime(3),
  leased_until datetime(3),
  payment_id varbinary(64),
  data longtext CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  about longtext CHARACTER SET ascii COLLATE ascii_bin,
  writer char(36) CHARACTER SET ascii COLLATE ascii_bin,
  PRIMARY KEY (scope, kind, id),
  UNIQUE KEY payment (scope, payment_id),
  KEY due (kind, state, scope, due_at)
) ENGINE = InnoDB ROW_FORMAT = DYNAMIC`,
    ],
    // Waits 60 s for the migrations of another replica.
    lock: `SELECT CAST(GET_LOCK(${lock}, 60) AS CHAR) AS locked`,
    unlock: `SELECT CAST(RELEASE_LOCK(${lock}) AS CHAR) AS released`,
    comment: `SELECT CAST(table_comment AS CHAR) AS comment FROM information_schema.tables
      WHERE table_schema = ${schema ? `'${schema}'` : 'DATABASE()'} AND table_name = '${name}'`,
    setComment: comment => `ALTER TABLE ${quoted(table)} COMMENT = '${comment}'`,
  };
}
