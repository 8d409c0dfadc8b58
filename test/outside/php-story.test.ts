// The sandbox's own API, driven by a test in PHP that shares no line with us, against a merchant's server in PHP.
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { Sandbox } from 'payment-gateway-sdk/sandbox';
import { expect, it } from 'vitest';
import { freePorts } from '../support/ports.ts';
import { lacks } from '../support/skips.ts';

const hasPhp = spawnSync('php', ['--version']).status === 0;
const script = fileURLToPath(new URL('story.php', import.meta.url));

it.skipIf(lacks(hasPhp, 'the story in PHP: there is no php on this machine'))(
  'a whole story is driven over JSON, by a program in PHP',
  { timeout: 60_000 },
  async () => {
    const sandbox = new Sandbox();
    const server = await sandbox.listen();
    const port = (await freePorts(1))[0];
    const env = { ...process.env, GATEWAY_URL: server.url, SHOP_URL: `http://127.0.0.1:${port}` };
    const shop = spawn('php', ['-S', `127.0.0.1:${port}`, script], { env, stdio: ['ignore', 'ignore', 'pipe'] });
    for await (const line of shop.stderr) if (String(line).includes('started')) break;
    shop.stderr.resume();
    const story = spawn('php', [script], { env, stdio: ['ignore', 'pipe', 'pipe'] });
    const [out, err, [code]] = await Promise.all([text(story.stdout), text(story.stderr), once(story, 'exit')]);
    shop.kill();
    await server.close();
    expect([code, err]).toEqual([0, '']);
    expect(out.split('\n').filter(line => line.startsWith('so: '))).toHaveLength(12);
  },
);
