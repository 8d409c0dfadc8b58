// The sandbox's pages without a browser: their answers to a GET and to a form.
import { GatewayClient } from 'payment-gateway-sdk';
import { Sandbox, type SandboxOptions } from 'payment-gateway-sdk/sandbox';
import { CARD } from './fixtures.ts';

export const HERE = 'http://sandbox.localhost';
export const returnUrl = 'https://shop.example/thanks';

/** The text of a piece of a page. */
export const asText = (html: string) =>
  html
    .replaceAll('&quot;', '"')
    .replaceAll('&#39;', "'")
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&amp;', '&');

/** The words of a page, as a reader sees them. */
export const wordsOf = (page: string) => asText(page.replace(/<[^>]*>/g, ' ').replace(/\s+/g, ' '));

export function openPages(options: SandboxOptions<'onramp'> = {}) {
  const sandbox = new Sandbox({ fetch: async () => new Response('thanks'), terminal: 'onramp', ...options });
  const gateway = new GatewayClient({ ...sandbox.clientOptions, retries: 0 });
  const create = async (request: object = {}) =>
    (await gateway.createPayment({ paymentType: 'DEPOSIT', ...CARD, returnUrl, ...request } as never)).payment.id;
  const ask = async (path: string, init: RequestInit) => {
    const response = await sandbox.fetch(HERE + path, init);
    const { status, headers } = response;
    const text = await response.text();
    const title = asText(/<title>(.*?)<\/title>/.exec(text)?.[1] ?? '');
    return { status, headers, location: headers.get('location'), text, words: wordsOf(text), title };
  };
  const get = (path: string) => ask(path, { headers: { accept: 'text/html' } });
  const post = (path: string, form: Record<string, string> = {}, headers: Record<string, string> = {}) =>
    ask(path, { method: 'POST', body: new URLSearchParams(form), headers: { accept: 'text/html', ...headers } });
  /** A form is sent, and the browser follows. */
  const press = async (path: string, form: Record<string, string> = {}) => get((await post(path, form)).location ?? '');
  return { sandbox, gateway, create, get, post, press };
}
