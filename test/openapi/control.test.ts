// The description of the sandbox's own API: what it says is what every route takes and answers.
import { GatewayClient } from 'payment-gateway-sdk';
import { Sandbox } from 'payment-gateway-sdk/sandbox';
import { expect, it } from 'vitest';
import { CARD, OTHER_ID } from '../support/fixtures.ts';
import { contractOf, type Description } from './contract.ts';

const ROOT = 'http://sandbox.localhost/_sandbox';
const descriptionOf = async (sandbox: Sandbox): Promise<Description> =>
  (await sandbox.fetch(`${ROOT}/openapi.json`)).json() as Promise<Description>;

it('the description of /_sandbox says what every route takes and answers', async () => {
  const sandbox = new Sandbox({ fetch: async () => new Response('thanks'), callbackRetries: [1] });
  const gateway = new GatewayClient(sandbox.clientOptions);
  const description = await descriptionOf(sandbox);
  const problems: string[] = [];
  const seen = new Set<string>();
  const fetch = contractOf(description).watch(request => sandbox.fetch(request), problems);
  const ask = async (method: string, path: string, body?: object) => {
    const headers = { 'content-type': 'application/json' };
    const response = await fetch(ROOT + path, { method, headers, ...(body && { body: JSON.stringify(body) }) });
    const pattern = Object.entries(description.paths).find(
      ([template, item]) =>
        method.toLowerCase() in item &&
        new RegExp(`^${template.replace(/\{\w+\}/g, '[^/]+')}$`).test(`/_sandbox${path.split('?')[0]}`),
    );
    seen.add(`${method} ${pattern?.[0]} ${response.status}`);
    return response;
  };

  const { payment } = await gateway.createDeposit({ ...CARD, reference: 'order-1' });
  await new GatewayClient({ ...sandbox.clientOptions, signKey: 'x' }).createDeposit(CARD).catch(() => {});
  await gateway.getPayment(payment.id);
  await ask('POST', '/faults', { fault: 'callback-duplicate', count: 1, probability: 1, reference: 'order-1' });
  await ask('POST', '/faults', { fault: 'slow', on: 'lookup', ms: 1 });
  await ask('POST', '/faults', { fault: 'explode' });
  await ask('GET', '/faults');
  await ask('POST', `/payments/${payment.id}/moves`, { move: 'authorize' });
  await ask('POST', `/payments/${payment.id}/moves`, { move: 'fail', code: 4004 });
  await ask('POST', `/payments/${payment.id}/moves`, { move: 'complete' });
  await ask('POST', `/payments/${payment.id}/moves`, { move: 'refund' });
  await ask('POST', `/payments/${OTHER_ID}/moves`, { move: 'complete' });
  await ask('GET', '/idle');
  await ask('GET', '/idle?timeout=soon');
  const late = await gateway.createDeposit({ ...CARD, reference: 'order-3' });
  sandbox.faults.next('callback-delay', { ms: 60_000, reference: 'order-3' });
  await sandbox.complete(late.payment.id);
  await ask('GET', '/idle?timeout=1');
  await ask('GET', '/wait?reference=order-1&paymentStatus=FAILED&isAnswered=true');
  await ask('GET', '/wait?reference=order-2&timeout=1');
  await ask('GET', '/wait');
  await ask('GET', '/payments?search=order&limit=10');
  await ask('GET', '/payments?limit=many');
  await ask('GET', `/payments/${payment.id}`);
  await ask('GET', `/payments/${OTHER_ID}`);
  await ask('GET', `/deliveries?paymentId=${payment.id}`);
  await ask('GET', '/deliveries?limit=-1');
  await ask('POST', '/deliveries/1/redeliver', { body: '{}' });
  await ask('POST', '/deliveries/99/redeliver', {});
  await ask('POST', '/deliveries/1/redeliver', { body: 7 });
  await ask('GET', '/calls');
  await ask('GET', '/calls?offset=x');
  await ask('GET', '/calls/2');
  await ask('GET', '/calls/99');
  await ask('DELETE', '/faults/2');
  await ask('DELETE', '/faults/2');
  await ask('DELETE', '/faults');
  await ask('PUT', '/clock', { advance: 1_000 });
  await ask('PUT', '/clock', { at: -1 });
  await ask('GET', '/clock');
  await ask('GET', '/info');
  await ask('GET', '/openapi.json');
  await ask('GET', '/scenarios');
  await ask('POST', '/scenarios/deposit-completed', { to: 'http://127.0.0.1:9/' });
  await ask('POST', '/scenarios/nope', {});
  await ask('POST', '/scenarios/deposit-completed', { too: 1 });
  await ask('POST', '/scenarios', {
    scenario: { does: 'A test.', create: { ...CARD, paymentType: 'DEPOSIT', amount: 1 } },
  });
  await ask('POST', '/scenarios', { scenario: 'does: [' });
  await ask('POST', '/test', { to: 'http://127.0.0.1:9/' });
  await ask('POST', '/test', { too: 1 });
  await ask('POST', '/reset');

  expect(problems).toEqual([]);
  const described = Object.entries(description.paths).flatMap(([path, item]) =>
    Object.entries(item).flatMap(([method, { responses }]) =>
      Object.keys(responses).map(status => `${method.toUpperCase()} ${path} ${status}`),
    ),
  );
  // A stream has no end, and what a page of another site is answered is one answer for all.
  const left = described.filter(answer => !seen.has(answer) && !answer.includes('/events') && !answer.endsWith('403'));
  expect(left).toEqual([]);
  expect([...seen].filter(answer => !described.includes(answer))).toEqual([]);
});
