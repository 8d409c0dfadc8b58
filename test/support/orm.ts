// What a library that the stores take can do in tests. They live in packages of their own: test/orms.
import { existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { PostgresDatabase } from 'payment-gateway-sdk/postgres';
import { ormsFolder } from './install.ts';

export const require = createRequire(`${ormsFolder}package.json`);
export const requirePrisma = createRequire(`${ormsFolder}prisma/package.json`);

/** What is done with a library's handle, a transaction or not. */
export interface Handle {
  /** The library's own. */
  readonly tx: Any;
  credit(id: string): Promise<unknown>;
  /** How often a payment is credited, as the handle sees it. */
  times(id: string): Promise<number>;
  sql(text: string): Promise<unknown>;
  /** A transaction within this one. */
  nested(work: (inner: Handle) => Promise<unknown>): Promise<unknown>;
}

/** How a library is opened. */
export interface OrmOptions {
  /** The table of credits. */
  table: string;
  max?: number;
  /** For the session: of Postgres as in its `options`, of MySQL a statement. */
  options?: string;
  port?: number;
}

/** Of a library. */
// biome-ignore lint/suspicious/noExplicitAny: the libraries come without types here; test/orms checks those
export type Any = any;

/** A library that is open. */
export interface OpenOrm<Database = PostgresDatabase> {
  database: Database;
  /** @param handle its transaction; without it, the library outside any */
  over(handle?: Any): Handle;
  /** A transaction as the merchant begins it, by the library alone. */
  begin(work: (tx: Any) => Promise<unknown>): Promise<unknown>;
  /** What is easily taken for a transaction. */
  root: Any;
  close(): Promise<unknown>;
}

/** A library, and what it makes of transactions. */
export interface Orm<Database = PostgresDatabase> {
  name: string;
  /** Whose version counts. */
  packages: readonly string[];
  nests: 'savepoint' | 'refuses';
  /** A query on a connection that broke within a transaction ends the process: docs/databases.md */
  endsProcess?: boolean;
  /** The stores take its pool as it is. */
  isPool?: boolean;
  open(options: OrmOptions): Promise<OpenOrm<Database>>;
}

export const versionsOf = ({ packages }: Pick<Orm, 'packages'>): string =>
  packages
    .map(name => {
      const from = [require, requirePrisma].find(candidate =>
        candidate.resolve.paths(name)?.some(path => existsSync(`${path}/${name}`)),
      );
      const path = from?.resolve.paths(name)?.find(path => existsSync(`${path}/${name}`));
      return JSON.parse(readFileSync(`${path}/${name}/package.json`, 'utf8')).version;
    })
    .join(', ');
