// One process of a merchant that creates payments over a store, and that dies at a step of its choice.
import { subscribe } from 'node:diagnostics_channel';
import type { ClientRequest } from 'node:http';
import { GatewayClient, isGatewayError } from '../../src/index.ts';
import { CARD } from '../support/fixtures.ts';
import { openDatabase } from './database.ts';

const {
  DATABASE = '',
  GATEWAY_URL = '',
  PREFIX = '',
  REFERENCES = '',
  DIE_AT = '',
  UNTIL_DONE,
  IS_ORDER,
} = process.env;

let isPlaying = true;
let steps = 0;
let last = '';

/** Every await of a create is framed by steps. SIGKILL leaves no time for anything after it. */
function step(name: string): void {
  // node:http may tell twice that a request has left.
  if (name === last || !isPlaying) return;
  last = name;
  steps += 1;
  if (String(steps) === DIE_AT) process.kill(process.pid, 'SIGKILL');
  if (!UNTIL_DONE) console.log(JSON.stringify({ step: name }));
}

/** An order is written before its create: the second of two equal statements has its own name. */
const framedBefore = new Set<string>();

/** A step before it begins, one once it has left this process, and one after it has been answered. */
async function framed<T>(what: string, begin: () => Promise<T>, left: () => Promise<unknown>): Promise<T> {
  const name = framedBefore.has(what) ? `${what} again` : what;
  framedBefore.add(name);
  step(`before ${name}`);
  const leaving = left();
  const work = begin();
  work.catch(() => {});
  await leaving;
  step(`${name} has left`);
  try {
    return await work;
  } finally {
    // MySQL refuses a reference that is taken.
    step(`${name} is answered`);
  }
}

/** The statements of a create, by a word of their SQL. MySQL returns no row from a write, so the row is read. */
const NAMES: readonly (readonly [RegExp, string])[] = [
  [/INSERT INTO/, 'begin'],
  [/UPDATE/, 'recording'],
  [/^SELECT .*LEFT JOIN/s, 'read'],
];
const nameOf = (sql: string) => NAMES.find(([word]) => word.test(sql))?.[1] ?? sql;
const database = await openDatabase(DATABASE, { max: 1 });
const stepping = database.watched((sql, send) => framed(nameOf(sql), send, () => new Promise(setImmediate)));

/** node:http tells on these channels that a request is made, that its last byte is written, and that it is answered. */
const during = (channel: string, name: (call: string) => string) =>
  subscribe(channel, message => {
    const { method } = (message as { request: ClientRequest }).request;
    step(name(method === 'POST' ? 'the create' : 'the lookup'));
  });
during('http.client.request.created', call => `before ${call}`);
during('http.client.request.start', call => `${call} has left`);
during('http.client.response.finish', call => `${call} is answered`);

const store = stepping.store({ scope: 'shop', tablePrefix: PREFIX });
const gateway = new GatewayClient({ baseUrl: GATEWAY_URL, retries: 0, store });

const deposit = { ...CARD, amount: '75.00' };

async function create(reference: string): Promise<object> {
  try {
    if (IS_ORDER) return await gateway.checkout(reference, deposit);
    const { payment, nextAction, replayed } = await gateway.createDeposit({ ...deposit, reference });
    return { reference, id: payment.id, nextAction: nextAction.type, replayed };
  } catch (error) {
    if (!isGatewayError(error)) throw error;
    return { reference, error: error.name, outcome: error.outcome };
  }
}

/** Every reference once; or again and again, until each has its payment. */
async function play(): Promise<void> {
  for (const reference of REFERENCES.split(',')) {
    let ended = await create(reference);
    while (UNTIL_DONE && 'error' in ended) ended = await create(reference);
    console.log(JSON.stringify(ended));
  }
}

// Opens the connection, resolves the table and binds the scope, so that the create's statements leave immediately.
isPlaying = false;
await gateway.find('none');
framedBefore.clear();
isPlaying = true;
await play();
await database.end();
