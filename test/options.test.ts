import { Agent as HttpAgent } from 'node:http';
import { Agent } from 'node:https';
import { inspect } from 'node:util';
import { HttpsProxyAgent } from 'https-proxy-agent';
import { ConfigurationError, GatewayClient, memoryStore, toNodeHandler } from 'payment-gateway-sdk';
import { fromPrisma, postgresStore } from 'payment-gateway-sdk/postgres';
import { Sandbox } from 'payment-gateway-sdk/sandbox';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { CARD, errorOf, ID, KEYS, record } from './support/fixtures.ts';
import { json, wire } from './support/wire.ts';

const problem = (options: object): string => {
  try {
    new GatewayClient({ ...KEYS, ...options });
  } catch (error) {
    expect(error).toBeInstanceOf(ConfigurationError);
    return (error as Error).message;
  }
  return '';
};

afterEach(() => vi.unstubAllEnvs());

it.each([
  ['https://gateway.example/', 'https://gateway.example/api/v1/payments'],
  ['HTTPS://gateway.example/eu/pay//', 'https://gateway.example/eu/pay/api/v1/payments'],
  ['https://gateway.example:8443', 'https://gateway.example:8443/api/v1/payments'],
  ['https://gateway.example/api/v10', 'https://gateway.example/api/v10/api/v1/payments'],
  ['http://127.255.100.254:4010', 'http://127.255.100.254:4010/api/v1/payments'],
  ['http://localhost:4010', 'http://localhost:4010/api/v1/payments'],
  ['http://sandbox.localhost', 'http://sandbox.localhost/api/v1/payments'],
  ['http://[::1]:4010', 'http://[::1]:4010/api/v1/payments'],
])('the baseUrl %s is called at %s', async (baseUrl, url) => {
  const { fetch, sent } = wire(json(record('created card deposit'), 201));
  await new GatewayClient({ ...KEYS, baseUrl, fetch }).createDeposit(CARD);
  expect(sent[0]?.url).toBe(url);
});

const URL_SHAPE = 'must be an absolute URL, such as https://gateway.example';
const HTTPS = 'must use https:, which protects the keys. http: works only on localhost';
const COPY = 'has an invisible character, a line break, or a space at an end: copy it again';
const BEARER = 'must not start with "Bearer": the SDK adds it';
const QUOTED = 'has quotation marks: leave them out';
const PLACEHOLDER = 'is a placeholder: set the real key';
const NOT_NEGATIVE = 'must be a whole number, 0 or more';
const WHOLE = 'must be a whole number, 1 or more';
const TIMEOUT = 'must be milliseconds, more than 0 and at most 24 days';
const STORE = 'must be a store: postgresStore(pool, { scope }), or memoryStore() in tests';
const WEBHOOK_URL = 'must be an absolute http(s) URL, as a string';
const STATEMENTS = ['read', 'owner', 'write', 'list', 'due', 'effect'];
/** By option: the message, and values that cause it. */
const REFUSED: [option: string, message: string, ...values: unknown[]][] = [
  ['baseUrl', 'is empty: pass it, or set PAYMENT_GATEWAY_URL', ''],
  ['baseUrl', URL_SHAPE, 'gateway.example', 'https://', 'x https://gateway.example', 'mailto:https://a.example', 7],
  ['baseUrl', HTTPS, 'http://gateway.example', 'ftp://localhost', 'http://128.0.0.1', 'http://[::2]'],
  ['baseUrl', HTTPS, 'http://127.0.0.1.gateway.example', 'http://localhost.gateway.example', 'http://notlocalhost'],
  ['baseUrl', 'must not contain a user name or a password', 'https://user@a.example', 'https://:pass@a.example'],
  ['baseUrl', 'must not have a query or a fragment', 'https://a.example?region=eu', 'https://a.example/#eu'],
  ['baseUrl', 'must end before /api/v1: the SDK adds it', 'https://a.example/api/v1', 'https://a.example/api/v1/x'],
  ['apiKey', 'is missing: pass it, or set PAYMENT_GATEWAY_API_KEY', undefined],
  ['signKey', 'is missing: pass it, or set PAYMENT_GATEWAY_SIGN_KEY', undefined],
  ['apiKey', 'is empty: pass it, or set PAYMENT_GATEWAY_API_KEY', ''],
  ['apiKey', COPY, 's3cr3t\n', ' s3cr3t', 's3cr3t ', 's3c\0r3t', 's3c\u2028r3t', 's3c\u200br3t', '\ufeffs3cr3t'],
  ['apiKey', COPY, 's3c\u00adr3t'],
  ['signKey', COPY, 's3cr3t\n', ' s3cr3t', 's3c\r\nr3t'],
  ['apiKey', BEARER, 'Bearer s3cr3t', 'bEARER s3cr3t'],
  ['signKey', BEARER, 'Bearer s3cr3t'],
  ['apiKey', QUOTED, '"s3cr3t"'],
  ['signKey', QUOTED, "'s3cr3t'", '\u201cs3cr3t\u201d'],
  ['signKey', PLACEHOLDER, 'undefined', '<your key>'],
  ['apiKey', PLACEHOLDER, 'null'],
  ['apiKey', 'has a character that an HTTP header cannot contain: copy it again', 's3cr3t😀'],
  ['timeout', TIMEOUT, 0, -1, Number.POSITIVE_INFINITY, Number.NaN, '30', 2 ** 31],
  ['retries', NOT_NEGATIVE, -1, 1.5, '2'],
  ['maxConnections', WHOLE, 0, 1.5, '1'],
  ['signatureEncoding', "must be 'hex' or 'base64'", 'HEX'],
  ['terminal', "must be 'standard' or 'onramp'", 'crypto'],
  ['webhookUrl', WEBHOOK_URL, '/callbacks', '', new URL('https://shop.example'), 'xhttps://shop.example'],
  ['fetch', 'must be a function', 'fetch'],
  ['onEvent', 'must be a function', {}],
  ['signCallbackUrls', 'must be true or false', 'yes'],
  ['formerSignKeys', 'must be a list of keys', 'key'],
  ['agent', 'must be an Agent of node:http or node:https', {}, 'agent', null],
  ['store', STORE, '', null, 'postgres', { write() {} }],
  ['store', STORE, ...STATEMENTS.map(name => ({ ...memoryStore(), [name]: undefined }))],
];

it.each(REFUSED.flatMap(([option, message, ...values]) => values.map(value => [option, value, message] as const)))(
  '%s: %o is refused: it %s',
  (option, value, message) => {
    expect(problem({ [option]: value })).toBe(`GatewayClient: ${option} ${message}.`);
  },
);

it.each(['apiKey', 'signKey'])('%s that is not a string is refused', name => {
  for (const value of [null, 7, {}, Buffer.from('key')]) expect(problem({ [name]: value })).toContain('string');
});

describe('a wrong option', () => {
  it('is named together with the others', () => {
    expect(problem({ retries: -1, timeout: 0 })).toBe(`GatewayClient: timeout ${TIMEOUT}; retries ${NOT_NEGATIVE}.`);
  });

  it.each([
    [[''], 'is empty'],
    [['old-key', 'old-key '], COPY],
    [['Bearer old'], BEARER],
    [[7], 'string'],
  ])('is among the former sign keys %j, which are not echoed', (formerSignKeys, said) => {
    expect(problem({ formerSignKeys })).toContain(said);
    expect(problem({ formerSignKeys })).not.toContain('old');
  });

  it('is an agent that Node would refuse at each create', () => {
    const http = new HttpAgent();
    expect(problem({ agent: http })).toBe(
      'GatewayClient: agent is for http:, and baseUrl is https:. Pass an Agent of node:https.',
    );
    const baseUrl = 'http://127.0.0.1:4010';
    expect(problem({ agent: new Agent(), baseUrl })).toBe(
      'GatewayClient: agent is for https:, and baseUrl is http:. Pass an Agent of node:http.',
    );
    expect([problem({ agent: http, baseUrl }), problem({ agent: new Agent() })]).toEqual(['', '']);
  });

  it('is not an agent that chooses the protocol per request, as those of proxies do', () => {
    const undecided = Object.assign(new Agent(), { protocol: undefined });
    for (const agent of [new HttpsProxyAgent('http://127.0.0.1:9'), undecided]) {
      expect([problem({ agent }), problem({ agent, baseUrl: 'http://127.0.0.1:4010' })]).toEqual(['', '']);
    }
  });

  it('is an agent next to a fetch: one would be ignored', () => {
    const both = { agent: new Agent(), fetch: async () => new Response() };
    expect(problem(both)).toBe('GatewayClient: pass an agent or a fetch, not both.');
  });

  it('has another message on a runtime that is too old', () => {
    const rawJSON = Object.getOwnPropertyDescriptor(JSON, 'rawJSON') ?? {};
    Reflect.deleteProperty(JSON, 'rawJSON');
    try {
      expect(problem({})).toBe(
        `payment-gateway-sdk needs Node.js 22.12 or later. This is node/${process.version.slice(1)}.`,
      );
    } finally {
      Object.defineProperty(JSON, 'rawJSON', rawJSON);
    }
  });
});

it.each<object>([
  { apiKey: 'two words' },
  { apiKey: 'ÿ' },
  { apiKey: 'Bearer' },
  { apiKey: '"s3"cr3t' },
  { signKey: 's3cr3t😀' },
  { retries: 0 },
  { maxConnections: 1 },
  { formerSignKeys: ['a', 'b'] },
  { timeout: 0.5 },
  { timeout: 2 ** 31 - 1 },
  { signatureEncoding: 'base64' },
  { terminal: 'onramp' },
  { store: Object.assign(() => {}, memoryStore()) },
])('%j is accepted', options => {
  expect(problem(options)).toBe('');
});

describe('the options', () => {
  it.each([null, 'https://gateway.example', 7, []])('are one object, not %j', options => {
    expect(() => new GatewayClient(options as never)).toThrow(
      'GatewayClient: takes one object of options: { baseUrl, apiKey, signKey }.',
    );
  });

  it('may be inherited, as from a class of settings', () => {
    class Settings {
      readonly apiKey = 'key';
      get baseUrl() {
        return 'https://settings.example';
      }
    }
    expect(new GatewayClient({ ...KEYS, ...new Settings() })).toHaveProperty('baseUrl', KEYS.baseUrl);
    expect(new GatewayClient(Object.assign(new Settings(), { signKey: 'key' }))).toHaveProperty(
      'baseUrl',
      'https://settings.example',
    );
  });

  it('are refused by a name that is none', () => {
    expect(problem({ signkey: 'x' })).not.toContain('extra');
    expect(problem({ signkey: 'x' })).toContain('unknown option "signkey" (did you mean "signKey"?)');
  });

  it('come from the environment where they are not passed', async () => {
    vi.stubEnv('PAYMENT_GATEWAY_URL', 'https://env.example');
    vi.stubEnv('PAYMENT_GATEWAY_API_KEY', 'env-key');
    vi.stubEnv('PAYMENT_GATEWAY_SIGN_KEY', 'env-sign-key');
    const { fetch, sent } = wire(json(record('created card deposit'), 201));
    await new GatewayClient({ fetch }).createDeposit(CARD);
    expect(sent[0]).toMatchObject({ url: 'https://env.example/api/v1/payments' });
    expect(sent[0]?.headers.get('authorization')).toBe('Bearer env-key');
  });

  it('are shown when the client is printed, except the secret ones', () => {
    expect(inspect(new GatewayClient(KEYS), { breakLength: Number.POSITIVE_INFINITY })).toBe(
      "GatewayClient { baseUrl: 'https://gateway.example', terminal: 'standard' }",
    );
  });
});

describe('a runtime', () => {
  afterEach(() => void vi.unstubAllGlobals());
  const bun = (version: string) => ({ Bun: { version } });
  const deno = { Deno: { version: { deno: '2.9.0' } }, navigator: { userAgent: 'Deno/2.9.0' } };
  const workers = { navigator: { userAgent: 'Cloudflare-Workers' } };
  const TWICE = 'may send a create twice';

  it.each<[name: string, globals: object, refusal?: string]>([
    [`node/${process.versions.node}`, { navigator: undefined }],
    ['bun/1.4.0', bun('1.4.0')],
    ['bun/1.10.2', bun('1.10.2')],
    ['bun/2.0.1', bun('2.0.1')],
    ['deno/2.9.0', deno],
    ['bun/1.3.14', bun('1.3.14'), `bun/1.3.14 ${TWICE}`],
    ['bun/0.8.1', bun('0.8.1'), `use Bun 1.4 or later, or pass your own fetch, if you accept that it ${TWICE}`],
    ['Cloudflare Workers', workers, 'fetch: (url, init) => fetch(url, init)'],
  ])('is named in the User-Agent, and refused without a fetch if it can send a create twice: %s', async (...row) => {
    const [name, globals, refusal] = row;
    for (const [global, value] of Object.entries(globals)) vi.stubGlobal(global, value);
    if (refusal) expect(() => new GatewayClient(KEYS)).toThrow(refusal);
    else expect(() => new GatewayClient(KEYS)).not.toThrow();
    const { fetch, sent } = wire(json(record('created card deposit'), 201));
    await new GatewayClient({ ...KEYS, fetch }).createDeposit(CARD);
    expect(sent[0]?.headers.get('user-agent')).toMatch(new RegExp(`^payment-gateway-sdk/\\S+ ${name}$`));
  });
});

it.each([
  ['getPayment', ID, undefined, { timeot: 1 }, 'options: unknown option "timeot" (did you mean "timeout"?)'],
  ['settle', 'order-1', 'not_created', { timeot: 1 }, 'options: unknown option "timeot" (did you mean "timeout"?)'],
  ['settle', 'order-1', ID, { despite: 'amount' }, "options.despite: must be a list, such as ['amount']"],
] as const)('the options of %s are checked', async (method, first, second, options, message) => {
  const gateway = new GatewayClient({ ...KEYS, store: memoryStore(), fetch: wire(json('{}')).fetch });
  const call = gateway[method] as (...args: unknown[]) => Promise<unknown>;
  const error = await errorOf(second ? call(first, second, options) : call(first, options));
  expect(error).toMatchObject({ name: 'InvalidRequestError', message: `Invalid request: ${message}.` });
});

const OF_ORDERS = ['checkout', 'order', 'cancelOrder', 'payOut', 'reviews', 'resolveReview'] as const;
it.each([...OF_ORDERS, 'doubts', 'find', 'settle', 'upkeep'] as const)('%s needs a store', async method => {
  const call = new GatewayClient(KEYS)[method] as (...args: unknown[]) => Promise<unknown>;
  const args = method === 'reviews' || method === 'doubts' ? [] : ['order-1'];
  const error = await errorOf(call(...args));
  expect(String(error)).toContain(`ConfigurationError: ${method} needs a client with a store`);
});

describe('a mistyped option', () => {
  const pool = { connect: async () => ({}) as never, query: async () => ({ rows: [] }) };
  const $transaction = async () => undefined as never;
  const prisma = (poolSize: unknown) =>
    fromPrisma({ $transaction, $queryRawUnsafe: async () => [] }, { poolSize: poolSize as number });

  const memory = (given: unknown) => () => memoryStore(given as object);
  const BOTH = 'memoryStore: now must be a function; unknown option "scop" (did you mean "scope"?).';
  it.each<[message: string, ...calls: (() => unknown)[]]>([
    ['memoryStore: takes one object of options: { scope, settleMargin, now }.', memory(null), memory([]), memory('eu')],
    ['memoryStore: scope must not be empty.', memory({ scope: '' })],
    [
      'memoryStore: settleMargin must be milliseconds, 0 or more.',
      ...['5', Number.POSITIVE_INFINITY, Number.NaN, -1].map(settleMargin => memory({ settleMargin })),
    ],
    [BOTH, memory({ now: 7, scop: 'x' })],
    ['prepare must be true or false', () => postgresStore(pool, { scope: 'eu', prepare: 1 } as never)],
    ['prepare needs a pool of pg', () => postgresStore(prisma(60), { scope: 'eu', prepare: true })],
    ['toNodeHandler takes a handler', () => toNodeHandler({} as never)],
    ['fromPrisma: poolSize must be an integer, 1 or more.', ...[0, 1.5, '60'].map(size => () => prisma(size))],
    ['did you mean "on"?', () => new Sandbox().faults.next('drop', { no: 'lookup' } as object)],
    ['reference must be a string', () => new Sandbox().faults.next('drop', { reference: 7 } as never)],
    ['did you mean "port"?', () => new Sandbox().listen({ prot: 3 } as object)],
    ['did you mean "force"?', () => new Sandbox().cancel(ID, { froce: true } as object)],
    ['did you mean "reason"?', () => new Sandbox().fail(ID, { resaon: 'x' } as object)],
  ])('is refused in whole sentences: %s', async (message, ...calls) => {
    for (const call of calls) {
      const error = await errorOf(Promise.resolve().then(call));
      expect(error).toBeInstanceOf(ConfigurationError);
      expect((error as Error).message).toContain(message);
    }
  });

  it.each([
    ['nothing', undefined],
    ['a client', { ...pool, release() {} }],
    ['something else', { query: async () => ({ rows: [] }) }],
  ])('and so is %s in place of the pool', (_, wrong) => {
    expect(() => postgresStore(wrong as never, { scope: 'eu' })).toThrow('postgresStore takes a pool of pg');
  });
});
