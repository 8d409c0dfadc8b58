// Offers one MariaDB to all tests of a run, once before all of them. It starts when the first asks for it.
import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { hasOwnMariadb, type Mariadb, ownMariadb } from './own-mariadb.ts';

export default async function offer(): Promise<(() => Promise<void>) | undefined> {
  // Another project of this run offers one already. Not `provide`: processes that the tests start need it, too.
  if (!hasOwnMariadb || process.env.PAYMENT_GATEWAY_TEST_MARIADB) return;
  let starting: Promise<Mariadb> | undefined;
  const desk = createServer(async asking => {
    asking.on('error', () => {});
    starting ??= ownMariadb('--max-connections=1000');
    try {
      const { port, socketPath } = await starting;
      asking.end(JSON.stringify({ port, socketPath }));
    } catch (error) {
      asking.end(JSON.stringify({ error: String(error) }));
    }
  }).listen(0, '127.0.0.1');
  await once(desk, 'listening');
  process.env.PAYMENT_GATEWAY_TEST_MARIADB = String((desk.address() as AddressInfo).port);

  return async () => {
    delete process.env.PAYMENT_GATEWAY_TEST_MARIADB;
    desk.close();
    const mariadb = await starting?.catch(() => undefined);
    await mariadb?.remove();
  };
}
