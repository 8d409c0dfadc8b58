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

describe('baseUrl', () => {
  it.each([
    ['https://gateway.example', 'https://gateway.example/api/v1/payments'],
    ['https://gateway.example/', 'https://gateway.example/api/v1/payments'],
    ['https://gateway.example/eu/pay/', 'https://gateway.example/eu/pay/api/v1/payments'],
    ['https://gateway.example:8443', 'https://gateway.example:8443/api/v1/payments'],
    ['http://127.0.0.1:4010', 'http://127.0.0.1:4010/api/v1/payments'],
    ['http://localhost:4010', 'http://localhost:4010/api/v1/payments'],
    ['http://sandbox.localhost', 'http://sandbox.localhost/api/v1/payments'],
    ['http://[::1]:4010', 'http://[::1]:4010/api/v1/payments'],
  ])('%s is called at %s', async (baseUrl, url) => {
    const { fetch, sent } = wire(json(record('created card deposit'), 201));
    await new GatewayClient({ ...KEYS, baseUrl, fetch }).createDeposit(CARD);
    expect(sent[0]?.url).toBe(url);
  });

  it.each([
    ['http://gateway.example', 'https'],
    ['http://127.0.0.1.gateway.example', 'https'],
    ['http://localhost.gateway.example', 'https'],
    ['ftp://gateway.example', 'https'],
    ['https://gateway.example?region=eu', 'query'],
    ['https://gateway.example/#eu', 'fragment'],
    ['https://user:pass@gateway.example', 'password'],
    ['https://gateway.example/api/v1', '/api/v1'],
    ['https://gateway.example/api/v1/payments', '/api/v1'],
    ['localhost:3000', 'absolute'],
    ['gateway.example', 'absolute'],
    [7, 'absolute'],
  ])('%s is refused, with a word on %s', (baseUrl, word) => {
    expect(problem({ baseUrl })).toContain(word);
  });
});

it('baseUrl may not be empty', () => {
  expect(problem({ baseUrl: '' })).toBe('GatewayClient: baseUrl is empty: pass it, or set PAYMENT_GATEWAY_URL.');
});

describe('keys', () => {
  it.each(['apiKey', 'signKey'])('%s may not be missing, empty, or no string', name => {
    const variable = name === 'apiKey' ? 'PAYMENT_GATEWAY_API_KEY' : 'PAYMENT_GATEWAY_SIGN_KEY';
    expect(problem({ [name]: undefined })).toBe(`GatewayClient: ${name} is missing: pass it, or set ${variable}.`);
    expect(problem({ [name]: '' })).toBe(`GatewayClient: ${name} is empty: pass it, or set ${variable}.`);
    for (const value of [null, 7, {}, Buffer.from('key')]) expect(problem({ [name]: value })).toContain('string');
  });

  it.each([
    ...['s3cr3t\n', '\ns3cr3t', 's3c\r\nr3t', ' s3cr3t', 's3cr3t ', 's3c\0r3t', 's3c\u2028r3t'],
    ...['s3c\u200br3t', '\ufeffs3cr3t', 's3c\u00adr3t'],
  ])('%j is refused as a careless copy, and never echoed', key => {
    for (const name of ['apiKey', 'signKey']) {
      expect(problem({ [name]: key })).toMatch(/copy it again/);
      expect(problem({ [name]: key })).not.toMatch(/s3c|r3t/);
    }
  });

  it.each(['Bearer s3cr3t', 'bearer s3cr3t'])('%s is refused with its Bearer, and never echoed', key => {
    expect(problem({ apiKey: key })).toBe('GatewayClient: apiKey must not start with "Bearer": the SDK adds it.');
  });

  it('apiKey may hold no character that a header cannot carry', () => {
    expect(problem({ apiKey: 's3cr3t😀' })).toBe(
      'GatewayClient: apiKey has a character that no header can carry: copy it again.',
    );
    expect(problem({ signKey: 's3cr3t😀' })).toBe('');
  });
});

describe('what is wrong is said in full', () => {
  const URL_SHAPE = 'must be an absolute URL, such as https://gateway.example';
  const HTTPS = 'must use https:, so that nobody reads the keys; http: only on localhost';
  const CREDENTIALS = 'must not hold a user name or a password';
  const QUERY = 'must not have a query or a fragment';
  const VERSION = 'must end before /api/v1: the SDK adds it';
  const COPY = 'has an invisible character, a line break, or a space at an end: copy it again';
  const WHOLE = 'must be a whole number, 1 or more';
  const NOT_NEGATIVE = 'must be a whole number, 0 or more';
  const BOOLEAN = 'must be true or false';
  const STORE = 'must be a store: postgresStore(pool, { scope }), or memoryStore() in tests';
  it.each<[object, string]>([
    [{ baseUrl: 'gateway.example' }, `baseUrl ${URL_SHAPE}`],
    [{ baseUrl: 'https://' }, `baseUrl ${URL_SHAPE}`],
    [{ baseUrl: 'x https://gateway.example' }, `baseUrl ${URL_SHAPE}`],
    [{ baseUrl: 'http://gateway.example' }, `baseUrl ${HTTPS}`],
    [{ baseUrl: 'ftp://localhost' }, `baseUrl ${HTTPS}`],
    [{ baseUrl: 'https://user@gateway.example' }, `baseUrl ${CREDENTIALS}`],
    [{ baseUrl: 'https://:pass@gateway.example' }, `baseUrl ${CREDENTIALS}`],
    [{ baseUrl: 'https://gateway.example?region=eu' }, `baseUrl ${QUERY}`],
    [{ baseUrl: 'https://gateway.example/#eu' }, `baseUrl ${QUERY}`],
    [{ baseUrl: 'https://gateway.example/api/v1' }, `baseUrl ${VERSION}`],
    [{ baseUrl: 'https://gateway.example/api/v1/' }, `baseUrl ${VERSION}`],
    [{ apiKey: 's3cr3t\n' }, `apiKey ${COPY}`],
    [{ signKey: ' s3cr3t' }, `signKey ${COPY}`],
    [{ apiKey: 'bEARER s3cr3t' }, 'apiKey must not start with "Bearer": the SDK adds it'],
    [{ signKey: 'Bearer s3cr3t' }, 'signKey must not start with "Bearer": the SDK adds it'],
    [{ apiKey: '"s3cr3t"' }, 'apiKey has quotation marks: leave them out'],
    [{ signKey: "'s3cr3t'" }, 'signKey has quotation marks: leave them out'],
    [{ signKey: '\u201cs3cr3t\u201d' }, 'signKey has quotation marks: leave them out'],
    [{ signKey: 'undefined' }, 'signKey is a placeholder: set the real key'],
    [{ signKey: '<your key>' }, 'signKey is a placeholder: set the real key'],
    [{ apiKey: 'null' }, 'apiKey is a placeholder: set the real key'],
    [{ retries: -1 }, `retries ${NOT_NEGATIVE}`],
    [{ retries: 0.5 }, `retries ${NOT_NEGATIVE}`],
    [{ retries: '1' }, `retries ${NOT_NEGATIVE}`],
    [{ maxConnections: 0 }, `maxConnections ${WHOLE}`],
    [{ maxConnections: 1.5 }, `maxConnections ${WHOLE}`],
    [{ maxConnections: '1' }, `maxConnections ${WHOLE}`],
    [{ signCallbackUrls: 'yes' }, `signCallbackUrls ${BOOLEAN}`],
    [{ formerSignKeys: 'key' }, 'formerSignKeys must be a list of keys'],
    [{ agent: {} }, 'agent must be an Agent of node:http or node:https'],
    [{ baseUrl: 'mailto:https://gateway.example' }, `baseUrl ${URL_SHAPE}`],
    ...['read', 'owner', 'write', 'list', 'due', 'effect'].map((method): [object, string] => [
      { store: { ...memoryStore(), [method]: undefined } },
      `store ${STORE}`,
    ]),
  ])('%j', (options, said) => {
    expect(problem(options)).toBe(`GatewayClient: ${said}.`);
  });

  it.each([
    [[''], 'is empty'],
    [['old-key', 'old-key '], COPY],
    [['Bearer old'], 'must not start with "Bearer": the SDK adds it'],
    [[7], 'string'],
  ])('of former sign keys %j', (formerSignKeys, said) => {
    expect(problem({ formerSignKeys })).toContain(said);
    expect(problem({ formerSignKeys })).not.toContain('old');
  });

  it('of an agent that Node would refuse at each create', () => {
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

  it('but of none that decides with each request what it connects to, as those of proxies do', () => {
    const undecided = Object.assign(new Agent(), { protocol: undefined });
    for (const agent of [new HttpsProxyAgent('http://127.0.0.1:9'), undecided]) {
      expect([problem({ agent }), problem({ agent, baseUrl: 'http://127.0.0.1:4010' })]).toEqual(['', '']);
    }
  });

  it('of an agent beside a fetch, of which one would be ignored', () => {
    const both = { agent: new Agent(), fetch: async () => new Response() };
    expect(problem(both)).toBe('GatewayClient: pass an agent or a fetch, not both.');
  });

  it('of a runtime that is too old', () => {
    const rawJSON = Object.getOwnPropertyDescriptor(JSON, 'rawJSON') ?? {};
    Reflect.deleteProperty(JSON, 'rawJSON');
    try {
      expect(problem({})).toBe(
        `payment-gateway-sdk needs Node.js 22.12 or later, and this is node/${process.version.slice(1)}.`,
      );
    } finally {
      Object.defineProperty(JSON, 'rawJSON', rawJSON);
    }
  });
});

describe('what is right is taken', () => {
  it.each<object>([
    { baseUrl: 'HTTPS://gateway.example' },
    { baseUrl: 'https://gateway.example/api/v10' },
    { baseUrl: 'https://gateway.example/api/v2' },
    { baseUrl: 'https://gateway.example/x/api-v1' },
    { apiKey: 'two words' },
    { apiKey: 'ÿ' },
    { apiKey: 'aBearer b' },
    { apiKey: 'Bearer' },
    { apiKey: '"s3"cr3t' },
    { signKey: "s3'cr3t'" },
    { retries: 0 },
    { maxConnections: 1 },
    { formerSignKeys: [] },
    { formerSignKeys: ['a', 'b'] },
    { timeout: 1 },
    { signatureEncoding: 'base64' },
    { terminal: 'onramp' },
  ])('%j', options => {
    expect(problem(options)).toBe('');
  });

  it('a base address loses the slashes at its end, however many', () => {
    expect(new GatewayClient({ ...KEYS, baseUrl: 'https://gateway.example/eu//' }).baseUrl).toBe(
      'https://gateway.example/eu',
    );
  });
});

describe('other options', () => {
  const TIMEOUT = 'timeout must be milliseconds, more than 0 and at most 24 days';
  const RETRIES = 'retries must be a whole number, 0 or more';
  const CONNECTIONS = 'maxConnections must be a whole number, 1 or more';
  const STORE = 'store must be a store: postgresStore(pool, { scope }), or memoryStore() in tests';
  const AGENT = 'agent must be an Agent of node:http or node:https';
  it.each([
    [{ timeout: 0 }, TIMEOUT],
    [{ timeout: -1 }, TIMEOUT],
    [{ timeout: Number.POSITIVE_INFINITY }, TIMEOUT],
    [{ timeout: Number.NaN }, TIMEOUT],
    [{ timeout: '30' }, TIMEOUT],
    [{ timeout: 2 ** 31 }, TIMEOUT],
    [{ retries: -1 }, RETRIES],
    [{ retries: 1.5 }, RETRIES],
    [{ retries: '2' }, RETRIES],
    [{ maxConnections: 0 }, CONNECTIONS],
    [{ maxConnections: 1.5 }, CONNECTIONS],
    [{ signatureEncoding: 'HEX' }, "signatureEncoding must be 'hex' or 'base64'"],
    [{ terminal: 'crypto' }, "terminal must be 'standard' or 'onramp'"],
    [{ webhookUrl: '/callbacks' }, 'webhookUrl must be an absolute http(s) URL, as a string'],
    [{ webhookUrl: '' }, 'webhookUrl must be an absolute http(s) URL, as a string'],
    [{ fetch: 'fetch' }, 'fetch must be a function'],
    [{ store: '' }, STORE],
    [{ store: null }, STORE],
    [{ store: 'postgres' }, STORE],
    [{ store: { write() {} } }, STORE],
    [{ agent: 'agent' }, AGENT],
    [{ agent: null }, AGENT],
    [{ onEvent: {} }, 'onEvent must be a function'],
    [{ signCallbackUrls: 'yes' }, 'signCallbackUrls must be true or false'],
    [{ formerSignKeys: 'key' }, 'formerSignKeys must be a list of keys'],
    [{ retries: -1, timeout: 0 }, `${TIMEOUT}; ${RETRIES}`],
  ])('are refused as %j', (options, told) => {
    expect(problem(options)).toBe(`GatewayClient: ${told}.`);
  });

  it.each([{ timeout: 2 ** 31 - 1 }, { timeout: 0.5 }, { retries: 0 }, { maxConnections: 1 }])('may be %j', options => {
    expect(problem(options)).toBe('');
  });

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

  it('may be a store that is a function with its methods', () => {
    expect(problem({ store: Object.assign(() => {}, memoryStore()) })).toBe('');
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

  it('are told when the client is printed: all but the secret ones', () => {
    expect(inspect(new GatewayClient(KEYS), { breakLength: Number.POSITIVE_INFINITY })).toBe(
      "GatewayClient { baseUrl: 'https://gateway.example', terminal: 'standard' }",
    );
  });
});

describe('a runtime on which a create may be sent twice', () => {
  afterEach(() => void vi.unstubAllGlobals());

  it.each([
    ['Bun 1.3', { Bun: { version: '1.3.14' } }, 'bun/1.3.14 may send a create twice'],
    ['Bun 1.2', { Bun: { version: '1.2.23' } }, 'bun/1.2.23 may send a create twice'],
    ['Bun 0.8', { Bun: { version: '0.8.1' } }, 'bun/0.8.1 may send a create twice'],
    [
      'what Bun users may do',
      { Bun: { version: '1.0.0' } },
      'use Bun 1.4 or later, or pass a fetch of your own, knowing that it may send a create twice',
    ],
    [
      'Cloudflare Workers',
      { navigator: { userAgent: 'Cloudflare-Workers' } },
      'fetch: (url, init) => fetch(url, init)',
    ],
  ])('is refused by name without a fetch of its own: %s', (_, globals, message) => {
    for (const [name, value] of Object.entries(globals)) vi.stubGlobal(name, value);
    expect(() => new GatewayClient(KEYS)).toThrow(message);
    expect(() => new GatewayClient(null as never)).toThrow(message);
    expect(() => new GatewayClient({ ...KEYS, fetch: async () => new Response() })).not.toThrow();
  });
});

describe('a runtime', () => {
  afterEach(() => void vi.unstubAllGlobals());

  it.each<[string, object]>([
    ['Node', {}],
    ['Bun 1.4', { Bun: { version: '1.4.0' } }],
    ['Bun 1.10', { Bun: { version: '1.10.2' } }],
    ['Bun 2', { Bun: { version: '2.0.1' } }],
    ['Deno', { Deno: { version: { deno: '2.9.0' } } }],
  ])('needs no fetch: %s', (_, globals) => {
    for (const [global, value] of Object.entries(globals)) vi.stubGlobal(global, value);
    expect(() => new GatewayClient(KEYS)).not.toThrow();
  });

  it.each([
    ['Bun 1.4', { Bun: { version: '1.4.0' } }, 'bun/1.4.0'],
    ['Bun 1.10', { Bun: { version: '1.10.2' } }, 'bun/1.10.2'],
    ['Bun 2', { Bun: { version: '2.0.1' } }, 'bun/2.0.1'],
    ['Deno', { Deno: { version: { deno: '2.9.0' } }, navigator: { userAgent: 'Deno/2.9.0' } }, 'deno/2.9.0'],
    ['something like Deno', { Deno: {} }, 'deno/undefined'],
    ['Bun 1.3', { Bun: { version: '1.3.14' } }, 'bun/1.3.14'],
    ['Cloudflare Workers', { navigator: { userAgent: 'Cloudflare-Workers' } }, 'Cloudflare Workers'],
    ['one without a navigator', { navigator: undefined }, `node/${process.versions.node}`],
  ])('names itself in the User-Agent: %s', async (_, globals, name) => {
    for (const [global, value] of Object.entries(globals)) vi.stubGlobal(global, value);
    const { fetch, sent } = wire(json(record('created card deposit'), 201));
    await new GatewayClient({ ...KEYS, fetch }).createDeposit(CARD);
    expect(sent[0]?.headers.get('user-agent')).toMatch(new RegExp(`^payment-gateway-sdk/\\S+ ${name}$`));
  });
});

describe('the options of a call', () => {
  const gateway = new GatewayClient({ ...KEYS, store: memoryStore(), fetch: wire(json('{}')).fetch });
  const UNKNOWN = 'options: unknown option "timeot" (did you mean "timeout"?)';
  it.each([
    ['a lookup', (options: object) => gateway.getPayment(ID, options), [{ timeot: 1 }, UNKNOWN]],
    [
      'a create',
      (options: object) => gateway.createDeposit(CARD, options),
      [{ timeot: 1 }, `${UNKNOWN}. Nothing was sent`],
    ],
    ['a settlement', (options: object) => gateway.settle('order-1', 'not_created', options), [{ timeot: 1 }, UNKNOWN]],
    [
      'a settlement, whose differences are a list',
      (options: object) => gateway.settle('order-1', ID, options),
      [{ despite: 'amount' }, "options.despite: must be a list, such as ['amount']"],
    ],
  ] as const)('of %s are checked', async (_, call, [options, told]) => {
    expect(await errorOf(call(options))).toMatchObject({
      name: 'InvalidRequestError',
      message: `Invalid request: ${told}.`,
    });
  });
});

describe('a mistyped option', () => {
  const pool = { connect: async () => ({}) as never, query: async () => ({ rows: [] }) };
  const $transaction = async () => undefined;
  const prisma = (timeout: unknown) =>
    fromPrisma(
      { $transaction, $queryRawUnsafe: async () => [], $connect: async () => {} } as never,
      { timeout } as never,
    );

  it.each([
    [() => memoryStore(null as never), 'memoryStore: takes one object of options: { scope, settleMargin, now }.'],
    [() => memoryStore([] as never), 'memoryStore: takes one object of options: { scope, settleMargin, now }.'],
    [() => memoryStore({ scope: '' }), 'memoryStore: scope must not be empty.'],
    [() => memoryStore({ scope: 5 } as never), 'memoryStore: scope must be a string.'],
    ...['x'.repeat(256), 'é'.repeat(128), 'eu\0'].map((scope): [() => unknown, string] => [
      () => memoryStore({ scope }),
      'memoryStore: scope must have at most 255 bytes of UTF-8, and no NUL.',
    ]),
    [() => memoryStore({ settleMargin: '5' } as never), 'memoryStore: settleMargin must be milliseconds, 0 or more.'],
    [
      () => memoryStore({ settleMargin: Number.POSITIVE_INFINITY }),
      'memoryStore: settleMargin must be milliseconds, 0 or more.',
    ],
    [
      () => memoryStore({ now: 7, scop: 'x' } as never),
      'memoryStore: now must be a function; unknown option "scop" (did you mean "scope"?).',
    ],
    [
      () => postgresStore(pool, 'eu' as never),
      'postgresStore: takes one object of options: { scope, tablePrefix, settleMargin }.',
    ],
    [() => prisma(0), 'fromPrisma: timeout must be milliseconds, more than 0 and at most 24 days.'],
    [() => prisma(2 ** 31), 'fromPrisma: timeout must be milliseconds, more than 0 and at most 24 days.'],
    [() => prisma('60'), 'fromPrisma: timeout must be milliseconds, more than 0 and at most 24 days.'],
    [() => postgresStore(pool, {} as never), "postgresStore: scope is missing: pass { scope: 'eu-terminal' }"],
  ])('is refused in whole sentences: %s', (call, told) => {
    expect(call).toThrow(told);
    expect(call).toThrow(ConfigurationError);
  });

  it.each([
    ['no margin', () => memoryStore({ settleMargin: 0 })],
    ['the longest time-out', () => prisma(2 ** 31 - 1)],
    ['another prefix', () => postgresStore(pool, { scope: 'eu', tablePrefix: 'shop_payments' })],
  ])('is not %s', (_, call) => {
    expect(call).not.toThrow();
  });

  it.each([
    ['postgresStore', () => postgresStore(pool, { scop: 'eu' } as never), 'did you mean "scope"?'],
    ['memoryStore', () => memoryStore({ scop: 'eu' } as object), 'did you mean "scope"?'],
    ['memoryStore', () => memoryStore('eu' as never), 'takes one object of options: { scope, settleMargin, now }'],
    ['memoryStore', () => memoryStore({ scope: 7 } as never), 'scope must be a string'],
    ['memoryStore', () => memoryStore({ now: 7 } as never), 'now must be a function'],
    [
      'postgresStore',
      () => postgresStore(pool, { scope: 'eu', settleMargin: -1 }),
      'settleMargin must be milliseconds, 0 or more',
    ],
    ['memoryStore', () => memoryStore({ settleMargin: Number.NaN }), 'settleMargin must be milliseconds'],
    ['postgresStore', () => postgresStore(pool, { scope: 7 } as never), 'scope must be a string'],
    ['postgresStore', () => postgresStore(pool, { scope: 'eu', tablePrefix: 7 } as never), 'tablePrefix must be'],
    ['faults.next', () => new Sandbox().faults.next('drop', { no: 'lookup' } as object), 'did you mean "on"?'],
    ['faults.next', () => new Sandbox().faults.next('drop', { reference: 7 } as never), 'reference must be a string'],
    ['sandbox.listen', () => new Sandbox().listen({ prot: 3 } as object), 'did you mean "port"?'],
    ['a move', () => new Sandbox().cancel(ID, { froce: true } as object), 'did you mean "force"?'],
    ['sandbox.fail', () => new Sandbox().fail(ID, { resaon: 'x' } as object), 'did you mean "reason"?'],
    ['sandbox.fail', () => new Sandbox().fail(ID, { reason: 7 } as object), 'reason must be a string'],
  ])('of %s is refused with what was meant', async (whose, call, told) => {
    const error = await Promise.resolve()
      .then<unknown>(call)
      .then(
        () => undefined,
        error => error,
      );
    expect(error).toMatchObject({ name: 'ConfigurationError' });
    expect(error.message).toContain(`${whose}`);
    expect(error.message).toContain(told);
  });

  it.each([
    ['nothing', undefined],
    ['a client', { ...pool, release() {} }],
    ['something else', { query: async () => ({ rows: [] }) }],
  ])('and so is %s in place of the pool', (_, wrong) => {
    expect(() => postgresStore(wrong as never, { scope: 'eu' })).toThrow('postgresStore takes a pool of pg');
  });

  it('and what is no handler', () => {
    expect(() => toNodeHandler({} as never)).toThrow('toNodeHandler takes a handler');
  });
});
