// The sandbox's pages without a browser: what they answer to a GET and to a form.
import { GatewayClient } from 'payment-gateway-sdk';
import { Sandbox, type SandboxOptions } from 'payment-gateway-sdk/sandbox';
import { CARD } from './fixtures.ts';

export const HERE = 'http://sandbox.localhost';
export const returnUrl = 'https://shop.example/thanks';

export function openPages(options: SandboxOptions<'onramp'> = {}) {
  const sandbox = new Sandbox({ fetch: async () => new Response(), terminal: 'onramp', ...options });
  const gateway = new GatewayClient(sandbox.clientOptions);
  const create = async (request: object = {}) =>
    (await gateway.createPayment({ paymentType: 'DEPOSIT', ...CARD, returnUrl, ...request } as never)).payment.id;
  const get = async (path: string, headers: Record<string, string> = {}) => {
    const response = await sandbox.fetch(HERE + path, { headers: { accept: 'text/html', ...headers } });
    return { status: response.status, headers: response.headers, text: await response.text() };
  };
  const post = async (path: string, form: Record<string, string> = {}, headers: Record<string, string> = {}) => {
    const init = { method: 'POST', body: new URLSearchParams(form), headers };
    const response = await sandbox.fetch(HERE + path, init);
    return {
      status: response.status,
      location: response.headers.get('location'),
      text: await response.text(),
    };
  };
  return { sandbox, gateway, create, get, post };
}

/** The words of a page, as a reader sees them. */
export const wordsOf = (page: string) => page.replace(/<[^>]*>/g, ' ').replace(/\s+/g, ' ');
