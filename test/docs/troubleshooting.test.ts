// Every text that the pages of troubleshooting quote is one that a developer gets: each is produced here.
import { execFile } from 'node:child_process';
import { tmpdir } from 'node:os';
import { PassThrough } from 'node:stream';
import { fileURLToPath } from 'node:url';
import {
  createWebhookHandler,
  GatewayClient,
  memoryJournal,
  toNodeHandler,
  type WebhookHandlerOptions,
} from 'payment-gateway-sdk';
import { postgresInbox, postgresJournal } from 'payment-gateway-sdk/postgres';
import { Sandbox } from 'payment-gateway-sdk/sandbox';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { CARD as ANY_CARD, errorOf, ID, KEYS } from '../support/fixtures.ts';
import { FROM_SOURCE } from '../support/processes.ts';
import { lacks } from '../support/skips.ts';
import { hasPostgres, postgresPool, uniqueName } from '../support/stores.ts';
import { tcpGateway } from '../support/tcp.ts';
import { textOf } from './pages.ts';

const CARD = { ...ANY_CARD, reference: 'order-1' };

const open = () => {
  const sandbox = new Sandbox();
  return { sandbox, options: sandbox.clientOptions, gateway: new GatewayClient(sandbox.clientOptions) };
};

/** What a call rejects with, or throws, as it is printed. */
const said = async (call: () => unknown): Promise<string> => String(await errorOf((async () => call())()));

const bodyOf = async (call: Promise<unknown>) => ((await errorOf(call)) as { body: string }).body;

/** What `onError` gets of a callback. */
async function refusal<Context extends object>(
  options: Partial<WebhookHandlerOptions<Context>>,
  request?: (id: string) => Request,
) {
  const { sandbox, gateway } = open();
  const { payment } = await gateway.createDeposit(CARD);
  let seen: unknown;
  const onError = (error: unknown) => {
    seen = error;
  };
  const handler = createWebhookHandler<Context>({ gateway, onPayment: () => {}, ...options, onError });
  if (!request) await sandbox.complete(payment.id);
  await handler(request ? request(payment.id) : callback(sandbox.payments[0]));
  return String(seen);
}

const callback = (body: unknown) =>
  new Request('https://shop.example/callbacks', { method: 'POST', body: JSON.stringify(body) });

/** What the command for operators and schedulers complains of. */
const complaint = (args: string[], cwd?: string): Promise<string> =>
  new Promise(resolve => {
    const main = fileURLToPath(new URL('../../src/cli/main.ts', import.meta.url));
    const env = { ...process.env, DATABASE_URL: 'postgres://127.0.0.1/none' };
    execFile(process.execPath, [...FROM_SOURCE, main, ...args], { cwd, env }, (_error, _out, err) => resolve(err));
  });

async function inDoubt() {
  const { sandbox, options } = open();
  const gateway = new GatewayClient({ ...options, journal: memoryJournal() });
  const request = { ...CARD, reference: 'order-2' };
  sandbox.faults.next('commit-then-drop');
  const first = String(await errorOf(gateway.createDeposit(request)));
  return { gateway, first, again: () => gateway.createDeposit(request) };
}

const schema = uniqueName('troubles');
const pool = postgresPool({ options: `-c search_path=${schema}`, max: 2 });

/** By the heading that the text stands under. */
const TROUBLES: Record<string, () => Promise<string>> = {
  'A key has a line break': () => said(() => new GatewayClient({ ...KEYS, apiKey: `${KEYS.apiKey}\n` })),
  'A key is missing': () => said(() => new GatewayClient()),
  "The key has its header's word": () => said(() => new GatewayClient({ ...KEYS, apiKey: `Bearer ${KEYS.apiKey}` })),
  'The address has the path of the API': () =>
    said(() => new GatewayClient({ ...KEYS, baseUrl: `${KEYS.baseUrl}/api/v1` })),
  'The address is not https': () => said(() => new GatewayClient({ ...KEYS, baseUrl: 'http://gateway.example' })),
  'The schema does not exist': () => said(() => postgresInbox(pool, { table: 'payments.inbox' }).migrate()),
  'No schema can be created in': async () => {
    const lost = postgresPool({ options: '-c search_path=nowhere', max: 2 });
    const text = await said(() => postgresInbox(lost).migrate());
    await lost.end();
    return text;
  },
  'The role may not create tables': async () => {
    const role = uniqueName('troubled');
    await pool.query(`create role ${role}; grant usage on schema ${schema} to ${role}`);
    const narrow = postgresPool({ options: `-c search_path=${schema} -c role=${role}`, max: 2 });
    const text = await said(() => postgresInbox(narrow, { table: 'another' }).migrate());
    await narrow.end();
    await pool.query(`drop owned by ${role}; drop role ${role}`);
    return text;
  },
  'The library is passed without its adapter': () => said(() => postgresInbox({ select() {} } as never)),
  'The sandbox does not start': async () => {
    vi.stubEnv('NODE_ENV', 'production');
    const text = await said(() => new Sandbox());
    vi.unstubAllEnvs();
    return text;
  },
  'Jest cannot load the package, or `require` fails': () =>
    new Promise(resolve => {
      const args = ['--no-experimental-require-module', '--eval', `require(${JSON.stringify(esm)})`];
      execFile(process.execPath, args, (_error, _out, complaint) => resolve(complaint));
    }),
  'The command cannot find a module': () => complaint(['drain', '--app', 'dist/payments.js'], tmpdir()),
  'The command has no driver': () => complaint(['doubts'], tmpdir()),
  'Every create is refused with 401': () =>
    said(() => new GatewayClient({ ...open().options, signKey: 'another' }).createDeposit(CARD)),
  'The signature is written in another way': () => {
    const { clientOptions } = new Sandbox({ signatureEncoding: 'base64' });
    return bodyOf(new GatewayClient({ ...clientOptions, signatureEncoding: 'hex' }).createDeposit(CARD));
  },
  'The sign key is another one': () =>
    bodyOf(new GatewayClient({ ...open().options, signKey: 'another' }).createDeposit(CARD)),
  'The gateway cannot be reached': () =>
    said(() => new GatewayClient({ ...KEYS, baseUrl: 'http://127.0.0.1:1', retries: 0 }).createDeposit(CARD)),
  'The certificate is not trusted': async () => {
    const gateway = await tcpGateway({}, 'server');
    const text = await said(() => new GatewayClient({ ...KEYS, baseUrl: gateway.url, retries: 0 }).createDeposit(CARD));
    await gateway.close();
    return text;
  },
  'It is not known whether a payment exists': async () => (await inDoubt()).first,
  PaymentInDoubtError: async () => said((await inDoubt()).again),
  'settle is refused as too early': async () => {
    const { gateway } = await inDoubt();
    return said(() => gateway.settle('order-2', 'not_created'));
  },
  'DuplicateReferenceError, though only a URL has changed': async () => {
    const gateway = new GatewayClient({ ...open().options, journal: memoryJournal() });
    await gateway.createDeposit(CARD);
    return said(() => gateway.createDeposit({ ...CARD, webhookUrl: 'https://shop-2.example/callbacks' }));
  },
  'An amount is refused': () => said(() => open().gateway.createDeposit({ ...CARD, amount: 0.1 + 0.2 })),
  'A field is refused': () => said(() => open().gateway.createDeposit({ ...CARD, refrence: 'x' } as never)),
  'The address of callbacks is refused': () =>
    said(() => open().gateway.createDeposit({ ...CARD, webhookUrl: '/callbacks' })),
  'A create has no address for callbacks': () =>
    said(() => open().gateway.createDeposit({ ...CARD, webhookUrl: undefined })),
  'A reference is passed for an id': () => said(() => open().gateway.getPayment('order-1')),
  'The journal has no table': () => {
    const gateway = new GatewayClient({ ...open().options, journal: postgresJournal(pool) });
    return said(() => gateway.createDeposit({ ...CARD, reference: 'order-3' }));
  },
  'No callback arrives': async () => {
    const { sandbox, gateway } = open();
    const { payment } = await gateway.createDeposit(CARD);
    await sandbox.complete(payment.id);
    await sandbox.idle();
    return sandbox.deliveries[0]?.error ?? '';
  },
  'Callbacks are answered 503, failed': async () => {
    const { sandbox, gateway } = open();
    const { payment } = await gateway.createDeposit(CARD);
    await sandbox.complete(payment.id);
    const warn = vi.spyOn(process, 'emitWarning').mockImplementation(() => {});
    const onPayment = () => Promise.reject(new Error('No such order.'));
    await createWebhookHandler({ gateway, onPayment })(callback(sandbox.payments[0]));
    const [[text] = []] = warn.mock.calls;
    warn.mockRestore();
    return String(text);
  },
  'Callbacks are answered 503, unknown_payment': () => refusal({}, () => callback({ id: ID })),
  'Callbacks are answered 503, lagging': () => refusal({}, id => callback({ id, paymentStatus: 'COMPLETED' })),
  'Callbacks are answered 503, already_parsed': () =>
    refusal({}, id => {
      const request = callback({ id });
      void request.text();
      return request;
    }),
  'A body parser runs before verify': async () => {
    let seen: unknown;
    const onError = (error: unknown) => {
      seen = error;
    };
    const { gateway } = open();
    const handler = createWebhookHandler({ gateway, verify: () => true, onPayment: () => {}, onError });
    await toNodeHandler(handler)(parsedRequest(), { headersSent: true, destroyed: true } as never);
    return String(seen);
  },
  'Callbacks are answered 401, unsigned': () => {
    const gateway = new GatewayClient({ ...open().options, signCallbackUrls: true });
    return refusal({ gateway, unsigned: 'refuse' });
  },
  'The inbox has no table': () => refusal({ inbox: postgresInbox(pool, { table: 'payment_gateway_inbox' }) }),
  'An SQL error was ignored': () =>
    refusal({
      inbox: postgresInbox(pool, { table: 'inbox' }),
      onPayment: async (_payment, { tx }) => {
        await tx.query('select nothing').catch(() => {});
      },
    }),
  'The transaction was ended by somebody': async () => {
    const { sandbox, gateway } = open();
    const { payment } = await gateway.createDeposit(CARD);
    await sandbox.complete(payment.id);
    await pool.query(`insert into inbox values ($1, 'COMPLETED', true)`, [payment.id]);
    let seen: unknown;
    const onError = (error: unknown) => {
      seen = error;
    };
    const inbox = postgresInbox(pool, { table: 'inbox' });
    await createWebhookHandler({ gateway, inbox, onPayment: () => {}, onError })(callback(sandbox.payments[0]));
    return String(seen);
  },
  'The pool is exhausted': async () => {
    const full = postgresPool({ options: `-c search_path=${schema}`, max: 2 });
    const clients = [await full.connect(), await full.connect()];
    const text = await refusal({ inbox: postgresInbox(full, { table: 'inbox' }) });
    for (const client of clients) client.release();
    await full.end();
    return text;
  },
  'The client has no journal': () => {
    const { gateway } = open();
    const handler = createWebhookHandler({ gateway, onPayment: () => {} });
    return said(() => gateway.sweep({ handler }));
  },
  'The journal has no scope': () =>
    said(() => new GatewayClient({ ...open().options, journal: memoryJournal() }).drain()),
  'plan gets the pool': () =>
    said(() =>
      postgresJournal(pool, { scope: 'shop', table: 'journal' }).plan(pool as never, {
        ...CARD,
        paymentType: 'DEPOSIT',
      }),
    ),
};

const NEED_POSTGRES = new Set([
  'The schema does not exist',
  'No schema can be created in',
  'The role may not create tables',
  'The journal has no table',
  'The inbox has no table',
  'An SQL error was ignored',
  'The transaction was ended by somebody',
  'The pool is exhausted',
  'plan gets the pool',
]);

/** A module of ESM alone. */
const esm = fileURLToPath(import.meta.resolve('ky'));

/** As Express hands it over after `express.json()`. */
function parsedRequest() {
  const incoming = Object.assign(new PassThrough(), { method: 'POST', url: '/callbacks', headers: {}, complete: true });
  incoming.end('{}');
  incoming.resume();
  return Object.defineProperty(Object.assign(incoming, { body: { id: ID } }), 'readableDidRead', {
    value: true,
  }) as never;
}

/** What takes seconds of waiting, which pass while the others run. */
const SLOW = ['The pool is exhausted', 'Callbacks are answered 503, lagging'];
const begun = new Map<string, Promise<string>>();

beforeAll(async () => {
  if (hasPostgres) {
    await pool.query(`create schema ${schema}`);
    await postgresInbox(pool, { table: 'inbox' }).migrate();
    await postgresJournal(pool, { table: 'journal' }).migrate();
  }
  for (const heading of SLOW) {
    if (!hasPostgres && NEED_POSTGRES.has(heading)) continue;
    const text = TROUBLES[heading]?.() ?? Promise.resolve('');
    text.catch(() => {});
    begun.set(heading, text);
  }
});
afterAll(async () => {
  if (hasPostgres) await pool.query(`drop schema ${schema} cascade`);
  await pool.end();
});

const page = ['troubleshooting-start', 'troubleshooting', 'troubleshooting-callbacks']
  .map(name => textOf(`docs/${name}.md`))
  .join('\n');

/** What it has to be, where `…` stands for whatever there is. */
const patternOf = (text: string) =>
  new RegExp(
    text
      .split('…')
      .map(part => part.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'))
      .join('[^]*?'),
  );

describe('troubleshooting', () => {
  it('quotes a text under each heading, and each of them is produced here', () => {
    const headings = [...page.matchAll(/^### (.+)$/gm)].map(([, heading]) => heading);
    expect(Object.keys(TROUBLES)).toEqual(headings);
    expect([...page.matchAll(/^```text$/gm)]).toHaveLength(headings.length);
  });

  for (const [heading, produce] of Object.entries(TROUBLES)) {
    const isLacking =
      NEED_POSTGRES.has(heading) && lacks(hasPostgres, `the trouble "${heading}": no PostgreSQL at 127.0.0.1:5432`);
    it.skipIf(isLacking)(heading, async () => {
      const after = page.slice(page.indexOf(`### ${heading}\n`));
      const [, text = 'nothing'] = /^```text\n([\s\S]*?)\n```$/m.exec(after) ?? [];
      expect(await (begun.get(heading) ?? produce())).toMatch(patternOf(text));
    });
  }
});
