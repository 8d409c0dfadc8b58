// The OpenAPI description in the tarball, as tools of others take it.
import { rmSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { bin, emptyProject, run } from './consumer.ts';
import { tarball } from './tarball.ts';

describe('payment-gateway-sdk/openapi.json', () => {
  let app = '';
  beforeAll(() => {
    // Not dev dependencies: they are larger than everything else that checks the description.
    app = emptyProject(tarball, '@redocly/openapi-core@2', 'openapi-typescript@7', 'typescript@5');
  });
  afterAll(() => rmSync(app, { recursive: true, force: true }));

  it('passes the strictest rules of Redocly', () => {
    expect(run(process.execPath, ['openapi.mjs'], app)).toBe('consumer: done\n');
  });

  it('becomes types that take and refuse what they should', () => {
    const description = 'node_modules/payment-gateway-sdk/docs/openapi/gateway.json';
    run('npx', ['openapi-typescript', description, '--output', 'openapi-types.d.ts'], app);
    const options = ['--noEmit', '--strict', '--module', 'nodenext', '--target', 'es2022', '--skipLibCheck'];
    expect(run(bin('tsc'), [...options, 'openapi.ts'], app)).toBe('');
  });
});
