// The scene of the proofs over a library: its store in two replicas, and an observer with its own connection.
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, it, onTestFinished } from 'vitest';
import type { Store } from '../../src/store/contract.ts';
import { newRow } from '../../src/testing/test-function.ts';
import { expectDocumented } from './documents.ts';
import { tableOf } from './markdown.ts';
import { type Any, type Handle, type OpenOrm, type Orm, type OrmOptions, versionsOf } from './orm.ts';
import { uniqueName } from './stores.ts';

/** A server, with what the proofs do beside the libraries. */
export interface Server<Database> {
  store(database: Database, options: { tablePrefix: string; scope: string }): Store<Any>;
  /** The type of the ids of payments. */
  id: 'uuid' | 'char(36)';
  /** A statement that fails. */
  failing: string;
  /** Whether a deadlock is found as soon as it is there. */
  findsDeadlocksAtOnce: boolean;
  observe(): Observer;
}

/** A connection of its own, which sees what is committed. */
export interface Observer {
  query(sql: string): Promise<Any[]>;
  /** Kills the connection of an effect that has written into the table just now. */
  kill(tx: Handle, table: string): Promise<void>;
  close(): Promise<void>;
}

/** Nothing of an effect, and all of it once. */
export const NOTHING = { credited: 0, mark: undefined };
export const ONCE = { credited: 1, mark: 'done' };

/** The proofs of the table in the docs, in its order. */
const PROOFS = [
  'one transaction',
  'twenty at once',
  'plans',
  'nested',
  'swallowed SQL errors',
  'deadlocks',
  'kills',
  'own COMMIT',
  'late queries',
  'session settings',
  'left open',
] as const;
export type Proof = (typeof PROOFS)[number];

/** For each library, the proofs that passed. */
const proven = new Map<unknown, Set<Proof>>();

/** Within a `describe`: opens a library before its tests, and closes it after them. */
export class Scene<Database> {
  readonly orm: Orm<Database>;
  readonly server: Server<Database>;
  readonly tablePrefix = uniqueName('store');
  readonly tables = { rows: `${this.tablePrefix}_rows`, credits: uniqueName('credits') };
  /** The rows 0 and 1, which effects lock. */
  readonly locks = uniqueName('locks');
  observer!: Observer;
  opened!: OpenOrm<Database>;
  /** Another replica. */
  other!: OpenOrm<Database>;
  /** A payment of this test. */
  id = '';

  constructor(orm: Orm<Database>, server: Server<Database>) {
    this.orm = orm;
    this.server = server;
    const { rows, credits } = this.tables;
    beforeAll(async () => {
      this.observer = server.observe();
      this.opened = await orm.open({ table: credits });
      this.other = await orm.open({ table: credits });
      await Promise.all([this.opened, this.other].map(each => this.storeOf(each).migrate()));
      await this.observer.query(`create table ${credits} (payment_id ${server.id} not null)`);
      await this.observer.query(`create table ${this.locks} (id int primary key)`);
      await this.observer.query(`insert into ${this.locks} values (0), (1)`);
    });
    beforeEach(() => {
      this.id = randomUUID();
    });
    afterAll(async () => {
      await Promise.all([this.opened?.close(), this.other?.close()]);
      await this.observer.query(`drop table ${rows}, ${credits}, ${this.locks}`);
      await this.observer.close();
    });
  }

  /** Opens the library once more, for one test. */
  async open(options: Omit<OrmOptions, 'table'> = {}): Promise<OpenOrm<Database>> {
    const own = await this.orm.open({ table: this.tables.credits, ...options });
    onTestFinished(async () => void (await own.close()));
    return own;
  }

  storeOf({ database }: OpenOrm<Database>, scope = 'shop'): Store<Any> {
    return this.server.store(database, { tablePrefix: this.tablePrefix, scope });
  }

  /** Runs an effect of a payment, unless it had one. */
  run(work: (tx: Handle) => Promise<unknown>, of = this.opened, id = this.id, store = this.storeOf(of)) {
    return store.effect({ id, about: { status: 'COMPLETED' }, reads: [] }, async ({ tx, payment }) => {
      if (payment) return undefined;
      await work(of.over(tx));
      return [newRow({ kind: 'payment', id, state: 'done' })];
    });
  }

  credit(of = this.opened) {
    return this.run(tx => tx.credit(this.id), of);
  }

  /** How often a payment was credited, and its mark. */
  async state(id = this.id) {
    const { rows, credits } = this.tables;
    const [credited] = await this.observer.query(`select count(*) as times from ${credits} where payment_id = '${id}'`);
    const [row] = await this.observer.query(
      `select state from ${rows} where kind = 'payment' and id = '${id}' and revision > 0`,
    );
    return { credited: Number(credited.times), mark: row?.state };
  }

  /** A promise of the table in the docs. */
  proof(name: Proof, promise: string, test: () => Promise<void>): void {
    it(promise, async () => {
      await test();
      proven.set(this.orm, (proven.get(this.orm) ?? new Set()).add(name));
    });
  }
}

/** Compares a table of docs/contributing/proven-libraries.md with what was proven. */
export function expectProven(table: string, orms: readonly Pick<Orm, 'name' | 'packages' | 'nests'>[]): void {
  const rows = orms.map(orm => [
    orm.name,
    versionsOf(orm),
    ...PROOFS.map(name =>
      proven.get(orm)?.has(name) ? 'yes' : name === 'nested' && orm.nests === 'refuses' ? 'refused' : 'NOT PROVEN',
    ),
  ]);
  expectDocumented('contributing/proven-libraries.md', table, tableOf(['library', 'version', ...PROOFS], rows));
}
