// The OpenAPI description in the tarball, as tools of others take it.
import { describe, expect, it } from 'vitest';
import { run } from './consumer.ts';
import { folderInApp, installed } from './tarball.ts';
import { tool } from './tools.ts';

describe('payment-gateway-sdk/openapi.json', () => {
  const app = folderInApp();

  it('passes the strictest rules of Redocly', () => {
    expect(run(process.execPath, ['openapi.mjs'], app)).toBe('consumer: done\n');
  });

  it('becomes types that take and refuse what they should', () => {
    const description = installed('docs/openapi/gateway.json');
    run(tool('.bin/openapi-typescript'), [description, '--output', 'openapi-types.d.ts'], app);
    const options = ['--noEmit', '--strict', '--module', 'nodenext', '--target', 'es2022', '--skipLibCheck'];
    expect(run(tool('typescript-7/bin/tsc'), [...options, 'openapi.ts'], app)).toBe('');
  });
});
