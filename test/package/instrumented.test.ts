// What merchants and operators put between the SDK and node:http: mocks of the network, and tracing.
import { expect, it } from 'vitest';
import { run } from './consumer.ts';
import { folderInApp } from './tarball.ts';

const folder = folderInApp();

it.each([
  ['msw 2 answers the calls that a merchant tests', 'msw.mjs', 'msw-2'],
  ['msw 3 answers the calls that a merchant tests', 'msw.mjs', 'msw-3'],
  ['nock 14 answers the calls that a merchant tests', 'nock.mjs', 'nock-14'],
  ['nock 15 answers the calls that a merchant tests', 'nock.mjs', 'nock-15'],
  ["OpenTelemetry's instrumentation of http records each attempt of a call as its own span", 'opentelemetry.cjs'],
])('%s', (_, ...script) => {
  expect(run(process.execPath, script, folder)).toBe('consumer: done\n');
});
