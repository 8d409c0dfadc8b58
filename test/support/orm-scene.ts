// What the proofs over a library play in: its stores in two replicas, and somebody who looks on from beside.
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, it, onTestFinished } from 'vitest';
import type { SqlInbox } from '../../src/sql/inbox.ts';
import type { SqlJournal } from '../../src/sql/journal.ts';
import { completedEvent } from './credits.ts';
import { expectDocumented } from './documents.ts';
import { tableOf } from './markdown.ts';
import { readMarks } from './marks.ts';
import { type Any, type Handle, type OpenOrm, type Orm, type OrmOptions, versionsOf } from './orm.ts';
import { uniqueName } from './stores.ts';

/** A server, with what the proofs do beside the libraries. */
export interface Server<Database> {
  inbox(database: Database, options: { table: string }): SqlInbox<Any>;
  journal(database: Database, options: { table: string; scope?: string }): SqlJournal<Any>;
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

/** How often a payment was credited, and its marks. */
export interface State {
  credited: number;
  marks: string;
}

export const NOTHING: State = { credited: 0, marks: '' };
export const ONCE: State = { credited: 1, marks: 'done' };

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
  readonly tables = { marks: uniqueName('marks'), credits: uniqueName('credits'), journal: uniqueName('journal') };
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
    const { marks, credits, journal } = this.tables;
    beforeAll(async () => {
      this.observer = server.observe();
      this.opened = await orm.open({ table: credits });
      this.other = await orm.open({ table: credits });
      await Promise.all([this.opened, this.other].map(each => this.inboxOf(each).migrate()));
      await this.journalOf(this.opened).migrate();
      await this.observer.query(`create table ${credits} (payment_id ${server.id} not null)`);
      await this.observer.query(`create table ${this.locks} (id int primary key)`);
      await this.observer.query(`insert into ${this.locks} values (0), (1)`);
    });
    beforeEach(() => {
      this.id = randomUUID();
    });
    afterAll(async () => {
      await Promise.all([this.opened?.close(), this.other?.close()]);
      await this.observer.query(`drop table ${marks}, ${credits}, ${journal}, ${this.locks}`);
      await this.observer.close();
    });
  }

  /** Opens the library once more, for one test. */
  async open(options: Omit<OrmOptions, 'table'> = {}): Promise<OpenOrm<Database>> {
    const own = await this.orm.open({ table: this.tables.credits, ...options });
    onTestFinished(async () => void (await own.close()));
    return own;
  }

  inboxOf({ database }: OpenOrm<Database>): SqlInbox<Any> {
    return this.server.inbox(database, { table: this.tables.marks });
  }

  journalOf({ database }: OpenOrm<Database>, scope?: string): SqlJournal<Any> {
    return this.server.journal(database, { table: this.tables.journal, ...(scope && { scope }) });
  }

  /** Runs an effect of a payment. */
  run(work: (tx: Handle) => Promise<unknown>, of = this.opened, paymentId = this.id) {
    return this.inboxOf(of).run({ ...completedEvent(), paymentId }, ({ tx }) => work(of.over(tx)));
  }

  credit(of = this.opened) {
    return this.run(tx => tx.credit(this.id), of);
  }

  async state(id = this.id): Promise<State> {
    const { marks, credits } = this.tables;
    const [credited] = await this.observer.query(`select count(*) as times from ${credits} where payment_id = '${id}'`);
    const found = await readMarks(sql => this.observer.query(sql), marks, id);
    return {
      credited: Number(credited.times),
      marks: found.map(({ isBegun }) => (isBegun ? 'begun' : 'done')).join(),
    };
  }

  /** A promise of the table in the docs. */
  proof(name: Proof, promise: string, test: () => Promise<void>): void {
    it(promise, async () => {
      await test();
      proven.set(this.orm, (proven.get(this.orm) ?? new Set()).add(name));
    });
  }
}

/** Compares a table of docs/orms.md with what was proven. */
export function expectProven(table: string, orms: readonly Pick<Orm, 'name' | 'packages' | 'nests'>[]): void {
  const rows = orms.map(orm => [
    orm.name,
    versionsOf(orm),
    ...PROOFS.map(name =>
      proven.get(orm)?.has(name) ? 'yes' : name === 'nested' && orm.nests === 'refuses' ? 'refused' : 'NOT PROVEN',
    ),
  ]);
  expectDocumented('orms.md', table, tableOf(['library', 'version', ...PROOFS], rows));
}
