// The dashboard in a real browser: what a developer sees, does and keeps while things happen.
import { describe, expect, it } from 'vitest';
import { hasChromium } from '../support/browser.ts';
import { lacks } from '../support/skips.ts';
import { Walk } from './walk.ts';

describe.skipIf(lacks(hasChromium, 'the dashboard of the sandbox: no Chromium (Debian: apt-get install chromium)'))(
  'the dashboard in Chromium',
  () => {
    const walk = new Walk();
    const create = async (request: object = {}) => (await walk.create(request)).payment.id;
    const button = (name: string | RegExp) => walk.page.getByRole('button', { name });
    const row = (text: string) => walk.page.getByRole('row').filter({ hasText: text });
    const isLive = () => walk.page.locator('#live.good').waitFor({ state: 'attached' });

    it('shows what happens while it is open, and moves from its list', async () => {
      await walk.page.goto(walk.url);
      await walk.page.getByText('No payment yet.').waitFor();
      const id = await create({ reference: 'live-1' });
      await row('live-1').getByRole('button', { name: 'Complete' }).click();
      await row('live-1').getByText('COMPLETED', { exact: true }).waitFor();
      await row('live-1').getByRole('link', { name: 'Callback 1: 200' }).waitFor();
      // A final payment moves on its own page, by force.
      expect(await row('live-1').getByRole('button').count()).toBe(0);
      await row('live-1').getByRole('link', { name: 'live-1' }).click();
      await walk.page.getByText('COMPLETED is final').waitFor();
      await walk.page.locator(`#complete-${id}`).click();
      await walk.page.getByText('Its state did not change, so no callback was posted.').waitFor();
      await walk.sandbox.idle();
      expect(walk.shop.posts).toHaveLength(1);
      expect(await walk.page.title()).toContain('COMPLETED: live-1');
      expect(walk.complaints).toEqual([]);
    });

    it('creates a payment by a form, whose code follows every letter', async () => {
      await walk.page.goto(walk.url);
      const code = walk.page.locator('#create-php');
      const says = (text: string) => expect.poll(() => code.textContent()).toContain(text);
      await says("'reference' => 'order-1'");
      await walk.page.getByLabel('Reference').fill('form-7');
      await says("'reference' => 'form-7'");
      await walk.page.getByLabel('Method').selectOption('BLIK');
      await says("'paymentMethod' => 'BLIK'");
      await walk.page.getByLabel('Type').selectOption('WITHDRAWAL');
      await says("'paymentMethod' => 'PAYID'");
      await walk.page.getByLabel('Method').selectOption('SEPA');
      await says("'paymentMethod' => 'SEPA'");
      await walk.page.getByText('Python', { exact: true }).click();
      await walk.page.getByLabel('Reference').fill('form-8');
      await expect.poll(() => walk.page.locator('#create-python').textContent()).toContain('"form-8"');
      expect(await walk.page.locator('#create-python').isVisible()).toBe(true);
      expect(await walk.focused()).toBe('reference');
      await walk.page.getByLabel('Currency').fill('e');
      await walk.page.locator('#create').click();
      await walk.page.getByRole('alert').getByText('The gateway refuses the create').waitFor();
      await walk.page.getByLabel('Currency').fill('EUR');
      await walk.page.locator('#create').click();
      await walk.page.waitForURL(`${walk.url}/payments/*`);
      expect(walk.sandbox.payments).toMatchObject([
        { reference: 'form-8', paymentType: 'WITHDRAWAL', paymentMethod: 'SEPA', amount: 25.5 },
      ]);
    });

    it('streams calls, moves and callbacks live, and searches all of them', async () => {
      await walk.page.goto(`${walk.url}/activity`);
      await isLive();
      await walk.sandbox.complete(await create({ reference: 'stream-1' }));
      await walk.page.locator('#callback-1').getByText('200', { exact: true }).waitFor();
      await walk.page.locator('#call-1').getByText('Created').waitFor();
      await walk.page.getByLabel('Search').fill('STREAM-1');
      await create({ reference: 'other' });
      await walk.page.locator('#tab-activity').getByText('3').waitFor();
      expect(await walk.page.locator('ol > li').count()).toBe(3);
      expect(walk.page.url()).toBe(`${walk.url}/activity?search=STREAM-1&show=`);
    });

    it('arms a fault with its options, says so on every page, and shows the refused call with its reason', async () => {
      await walk.page.goto(`${walk.url}/faults`);
      await walk.page.getByLabel('How often').fill('2');
      await walk.page.getByLabel('Only for the reference').fill('unlucky');
      await button('Arm reject-422').click();
      await walk.page.getByText('The next 2 creates with reference unlucky meet reject-422').first().waitFor();
      expect(walk.sandbox.faults.armed).toMatchObject([{ fault: 'reject-422', count: 2, reference: 'unlucky' }]);
      await create();
      await expect(create({ reference: 'unlucky' })).rejects.toMatchObject({ status: 422 });
      await walk.page.getByRole('link', { name: 'Activity' }).click();
      await walk.page.getByText('Armed.', { exact: true }).waitFor();
      await walk.page.locator('ol > li').filter({ hasText: 'reject-422' }).getByRole('link').click();
      await walk.page.getByRole('heading', { level: 1 }).getByText('422').waitFor();
      await button('Disarm reject-422').click();
      await walk.page.getByText('Armed.', { exact: true }).waitFor({ state: 'detached' });
      expect(walk.sandbox.faults.armed).toEqual([]);
    });

    it('redelivers a callback as it was edited, and keeps what is typed meanwhile', async () => {
      await walk.sandbox.complete(await create());
      await walk.sandbox.idle();
      await walk.page.goto(`${walk.url}/deliveries/1`);
      await isLive();
      const editor = walk.page.getByLabel('Another body, posted exactly as it is here');
      await editor.fill('{"paymentStatus":"FAILED"}');
      await create({ reference: 'meanwhile' });
      await walk.page.locator('#tab-payments').getByText('2').waitFor();
      expect(await editor.inputValue()).toBe('{"paymentStatus":"FAILED"}');
      expect(await walk.focused()).toBe('edited');
      await button('Post this body').click();
      await walk.page.waitForURL(`${walk.url}/deliveries/2`);
      await walk.page.getByText('Your app took it: 200').waitFor();
      expect(walk.shop.posts.map(({ body }) => body).at(-1)).toBe('{"paymentStatus":"FAILED"}');
    });

    it('filters while it is typed, and a refresh loses neither the text, nor the focus, nor what is opened', async () => {
      await create({ reference: 'apple' });
      await create({ reference: 'pear' });
      await walk.page.goto(walk.url);
      await isLive();
      await walk.page.getByLabel('Search').fill('pear');
      await row('apple').waitFor({ state: 'detached' });
      expect(walk.page.url()).toBe(`${walk.url}/?search=pear&status=`);
      await create({ reference: 'pear-2' });
      await row('pear-2').waitFor();
      expect([await walk.focused(), await walk.page.locator('#search').inputValue()]).toEqual(['search', 'pear']);
      await walk.page.getByText('Sandbox clock').click();
      await create({ reference: 'pear-3' });
      await row('pear-3').waitFor();
      expect(await button('Advance by 1h').isVisible()).toBe(true);
      await walk.page.keyboard.press('Escape');
      expect(await button('Advance by 1h').isVisible()).toBe(false);
      expect(await walk.page.evaluate('document.activeElement.className')).toBe('clock');
    });

    it('keeps its place while newer payments come', async () => {
      for (let count = 0; count < 40; count++) await create({ reference: `old-${count}` });
      await walk.page.goto(walk.url);
      await isLive();
      const old = row('old-7');
      await old.scrollIntoViewIfNeeded();
      const opened = walk.sandbox.payments[7]?.id;
      await walk.page.locator(`#open-${opened}`).focus();
      await create({ reference: 'newer' });
      await row('newer').waitFor({ state: 'attached' });
      expect(await walk.focused()).toBe(`open-${opened}`);
      expect(await walk.page.evaluate('scrollY')).toBeGreaterThan(100);
    });

    it('tells a payment live, and moves the clock to a callback that waits', async () => {
      const id = await create();
      walk.sandbox.faults.next('callback-delay', { ms: 3_600_000 });
      await walk.page.goto(`${walk.url}/payments/${id}`);
      await isLive();
      await walk.page.locator(`#complete-${id}`).click();
      await button('Move the clock there').click();
      await walk.page.getByRole('link', { name: 'Callback 1' }).first().waitFor();
      await walk.page.locator('ol').getByText('200', { exact: true }).first().waitFor();
      expect(await walk.page.title()).toContain('COMPLETED: order-1042');
      expect(walk.shop.posts).toHaveLength(1);
      await walk.page.getByText('Sandbox clock').click();
      await button('Set it right').click();
      await expect.poll(() => Math.abs(walk.sandbox.clock.offset)).toBeLessThan(60_000);
    });

    it('a page that has missed what happened says why its move was refused', async () => {
      const id = await create();
      await walk.page.route('**/live', route => route.abort());
      await walk.page.goto(`${walk.url}/payments/${id}`);
      await walk.page.getByText('Not connected').waitFor();
      await walk.sandbox.cancel(id);
      await walk.page.locator(`#complete-${id}`).click();
      await walk.page.getByRole('alert').getByText('CANCELED, which is final').waitFor();
      await walk.page.getByText('CANCELED is final').waitFor();
      await walk.page.locator(`#complete-${id}`).click();
      await walk.page.getByText('COMPLETED is final').waitFor();
      expect(await walk.page.getByRole('alert').isVisible()).toBe(false);
      walk.complaints.splice(0); // Chromium says that it did not connect.
    });

    it('misses nothing that happens while it opens, and says so', async () => {
      for (let count = 0; count < 5; count++) {
        await walk.page.goto(walk.url, { waitUntil: 'commit' });
        const reference = `early-${count}`;
        await create({ reference });
        await row(reference).waitFor();
        await create();
        await expect.poll(walk.news).toContain(`Payments (${2 * count + 2})`);
      }
    });

    it('is worked by the keyboard alone', async () => {
      const id = await create({ reference: 'keys' });
      await walk.page.goto(walk.url);
      await isLive();
      await walk.page.locator(`#open-${id}`).focus();
      await walk.page.keyboard.press('Tab');
      expect(await walk.focused()).toBe(`complete-${id}`);
      await walk.page.keyboard.press('Enter');
      await walk.page.locator(`#row-${id}`).getByText('COMPLETED', { exact: true }).waitFor();
      // Its button is gone, and the focus is where the page begins.
      await expect.poll(() => walk.page.evaluate('document.activeElement.tagName')).toBe('H1');
    });

    it('resets the sandbox once that is confirmed', async () => {
      await create();
      await walk.page.goto(`${walk.url}/activity`);
      await isLive();
      await walk.page.getByText('Sandbox clock').click();
      await walk.page.getByText('Reset the sandbox').click();
      expect(walk.sandbox.payments).toHaveLength(1);
      await button('Yes, forget everything').click();
      await walk.page.getByText('No payment yet.').waitFor();
      expect(walk.sandbox.payments).toEqual([]);
    });

    it('without JavaScript everything works, page by page', async () => {
      await walk.look({ javaScriptEnabled: false });
      const { page: quiet } = walk;
      await quiet.goto(`${walk.url}/create`);
      await quiet.getByLabel('Reference').fill('plain-1');
      await quiet.getByRole('button', { name: 'Show its code' }).click();
      expect(await quiet.locator('#create-php').textContent()).toContain("'reference' => 'plain-1'");
      await quiet.getByLabel('Callbacks go to').fill(`${walk.shop.url}/callbacks`);
      await quiet.locator('#create').click();
      await quiet.waitForURL(`${walk.url}/payments/*`);
      const id = walk.sandbox.payments[0]?.id ?? '';
      await create({ reference: 'other' });
      await quiet.goto(walk.url);
      await quiet.getByLabel('Search').fill('plain');
      await quiet.getByRole('button', { name: 'Search' }).click();
      await quiet.getByRole('button', { name: 'Complete' }).click();
      await quiet.locator(`#row-${id}`).getByText('COMPLETED', { exact: true }).waitFor();
      expect(quiet.url()).toContain('search=plain');
      expect(walk.sandbox.payments).toMatchObject([{ id, paymentStatus: 'COMPLETED' }, { paymentStatus: 'PENDING' }]);
      await walk.sandbox.idle();
      await quiet.goto(walk.url);
      await quiet.getByRole('link', { name: 'Callback 1: 200' }).click();
      await quiet.getByRole('button', { name: 'Redeliver' }).click();
      await quiet.getByText('Your app took it: 200').first().waitFor();
      expect(walk.sandbox.deliveries.map(({ status }) => status)).toEqual([200, 200]);
      await quiet.getByRole('link', { name: 'Faults' }).click();
      await quiet.getByRole('button', { name: 'Arm callback-lose' }).click();
      await quiet.getByRole('button', { name: /^Disarm callback-lose/ }).click();
      await quiet.getByText('Armed.', { exact: true }).waitFor({ state: 'detached' });
      expect(walk.sandbox.faults.armed).toEqual([]);
    });
  },
);
