// The table of a store: its name and its migrations.
import type { ProblemOf } from '../store/options.ts';
import type { SqlDatabase } from './database.ts';

export const tableOf = (prefix: string) => `${prefix}_rows`;

export const prefixProblem: ProblemOf = value => {
  if (typeof value !== 'string' || !/^[a-z_][a-z\d_]*(\.[a-z_][a-z\d_]*)?$/i.test(value))
    return 'must be a plain name such as my_table, or schema.my_table';
  return /[^.]{64}/.test(tableOf(value))
    ? 'is too long: Postgres cuts names after 63 characters, so two tables could get the same name'
    : undefined;
};

/** In ASCII, because other character sets would lose or refuse letters. */
export const asciiJson = (value: unknown) =>
  JSON.stringify(value).replace(/[^\0-\x7f]/g, unit => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);

export interface Migrations {
  /** All ever published, oldest first. Each can run again. */
  steps: readonly string[];
  /** Selects '1' once no other process migrates. */
  lock: string;
  /** For a lock that the transaction does not end. */
  unlock?: string;
  /** Selects the table's comment, which has the number of finished migrations. */
  comment: string;
  setComment(comment: string): string;
}

const VERSION = /^payment-gateway-sdk, version (\d+)$/;
const noteVersion = ({ steps, setComment }: Migrations) => setComment(`payment-gateway-sdk, version ${steps.length}`);

/** Runs the pending migrations: none after a later version of the SDK. */
export async function migrate(database: SqlDatabase<unknown>, migrations: Migrations) {
  const { steps, lock, unlock, comment } = migrations;
  // Without a timeout: another replica or an index may take long.
  await database.transaction(async tx => {
    const query = database.queryIn(tx);
    const [answer] = await query(lock);
    if (answer?.locked !== '1')
      throw new Error(
        'Another process is still migrating the table of the store. Call migrate() once it has finished.',
      );
    try {
      const [found] = await query(comment);
      const pending = steps.slice(Number(VERSION.exec(String(found?.comment))?.[1] ?? 0));
      for (const step of pending) await query(step);
      if (pending.length > 0) await query(noteVersion(migrations));
    } finally {
      if (unlock) await query(unlock);
    }
  });
}

export const ddlOf = (migrations: Migrations) =>
  [...migrations.steps, noteVersion(migrations)].map(statement => `${statement};\n`).join('');
