// The sandbox in Chromium: each test has its own sandbox and page, and ends without an error or a request to elsewhere.
import { GatewayClient } from 'payment-gateway-sdk';
import { Sandbox, type SandboxOptions } from 'payment-gateway-sdk/sandbox';
import type { Browser, BrowserContext, BrowserContextOptions, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach, expect } from 'vitest';
import { openBrowser, strangersOf } from '../support/browser.ts';
import { openShop, type Shop } from '../support/shop.ts';

export class Walk {
  browser!: Browser;
  page!: Page;
  shop!: Shop;
  sandbox!: Sandbox<'onramp'>;
  gateway!: GatewayClient<'onramp'>;
  /** The address of the sandbox. */
  url!: string;
  strangers: string[] = [];
  complaints: string[] = [];
  #context: BrowserContext | undefined;

  constructor(options: SandboxOptions<'onramp'> = {}) {
    beforeAll(async () => {
      this.browser = await openBrowser();
      this.shop = await openShop();
    });
    afterAll(async () => {
      await this.browser.close();
      await this.shop.close();
    });
    let close: () => Promise<void>;
    beforeEach(async () => {
      this.shop.posts.splice(0);
      this.sandbox = new Sandbox({ terminal: 'onramp', payid: 'redirect', shopName: 'Nordlicht Records', ...options });
      ({ url: this.url, close } = await this.sandbox.listen());
      this.gateway = new GatewayClient({ ...this.sandbox.clientOptions, baseUrl: this.url, fetch: undefined });
      await this.look();
    });
    afterEach(async () => {
      await this.#context?.close();
      await close();
      expect([this.strangers, this.complaints]).toEqual([[], []]);
    });
  }

  /** Opens a browser with these options, and closes the other one. */
  async look(options: BrowserContextOptions = {}): Promise<void> {
    await this.#context?.close();
    this.#context = await this.browser.newContext(options);
    this.page = await this.#context.newPage();
    this.page.setDefaultTimeout(60_000);
    this.strangers = strangersOf(this.page, [this.url, this.shop.url]);
    this.complaints = [];
    this.page.on('pageerror', error => this.complaints.push(error.message));
    this.page.on('console', message => {
      // Chromium logs the status of a form that was refused.
      if (message.type() === 'error' && !/status of 4(09|22)/.test(message.text()))
        this.complaints.push(message.text());
    });
  }

  create(request: object = {}) {
    const { url } = this.shop;
    const fields = { paymentType: 'DEPOSIT', paymentMethod: 'CARD', amount: '25.50', currency: 'EUR' };
    const addresses = { webhookUrl: `${url}/callbacks`, returnUrl: `${url}/thanks` };
    return this.gateway.createPayment({ ...fields, reference: 'order-1042', ...addresses, ...request } as never);
  }

  focused = () => this.page.evaluate('document.activeElement.id');
  news = () => this.page.getByRole('status').textContent();
}
