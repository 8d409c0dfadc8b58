// One process of a merchant that creates payments over a journal, and that dies at a step of its choice.
import { subscribe } from 'node:diagnostics_channel';
import type { ClientRequest } from 'node:http';
import pg from 'pg';
import { GatewayClient, isGatewayError } from '../../src/index.ts';
import { postgresJournal } from '../../src/postgres/index.ts';
import { Sandbox } from '../../src/sandbox/index.ts';

const { GATEWAY_URL = '', SIGN_KEY, TABLE = '', REFERENCES = '', DIE_AT = '', UNTIL_DONE } = process.env;

let steps = 0;

/** Every await of a create is framed by steps. SIGKILL leaves no time for anything after it. */
function step(name: string): void {
  steps += 1;
  if (String(steps) === DIE_AT) process.kill(process.pid, 'SIGKILL');
  if (!UNTIL_DONE) console.log(JSON.stringify({ step: name }));
}

/** A step before it begins, one once it has left this process, and one after it has been answered. */
async function framed<T>(name: string, begin: () => Promise<T>, left: () => Promise<unknown>): Promise<T> {
  step(`before ${name}`);
  const leaving = left();
  const work = begin();
  work.catch(() => {});
  await leaving;
  step(`${name} has left`);
  const result = await work;
  step(`${name} is answered`);
  return result;
}

const pool = new pg.Pool({ host: '127.0.0.1', user: 'postgres', database: 'test', max: 1 });
/** What the journal asks of Postgres, by a word of its SQL. */
const nameOf = (sql: string) =>
  /INSERT INTO/.test(sql) ? 'begin' : /UPDATE/.test(sql) ? 'recording' : /^SELECT .* details/s.test(sql) ? 'read' : sql;
const stepping = {
  connect: () => pool.connect(),
  query: (sql: string, values?: unknown[]) =>
    framed(
      nameOf(sql),
      () => pool.query(sql, values),
      () => new Promise(setImmediate),
    ),
};

/** node:http tells on these channels that a request is made, that its last byte is written, and that it is answered. */
const during = (channel: string, name: (call: string) => string) =>
  subscribe(channel, message => {
    const { method } = (message as { request: ClientRequest }).request;
    step(name(method === 'POST' ? 'the create' : 'the lookup'));
  });
during('http.client.request.created', call => `before ${call}`);
during('http.client.request.start', call => `${call} has left`);
during('http.client.response.finish', call => `${call} is answered`);

const { apiKey, signKey } = new Sandbox().clientOptions;
const gateway = new GatewayClient({
  baseUrl: GATEWAY_URL,
  apiKey,
  signKey: SIGN_KEY ?? signKey,
  retries: 0,
  journal: postgresJournal(stepping, { table: TABLE }),
});

async function create(reference: string): Promise<object> {
  try {
    const { payment, nextAction, replayed } = await gateway.createDeposit({
      paymentMethod: 'CARD',
      amount: '75.00',
      currency: 'EUR',
      reference,
      webhookUrl: 'https://shop.example/callbacks',
    });
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

// A connection that stands already, so that what is sent leaves at once.
await pool.query('select 1');
await play();
await pool.end();
