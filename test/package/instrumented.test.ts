// What merchants and operators put between the SDK and node:http: mocks of the network, and tracing.
import { rmSync } from 'node:fs';
import { describe, expect, it, onTestFinished } from 'vitest';
import { emptyProject, run } from './consumer.ts';
import { tarball } from './tarball.ts';

/** Runs a merchant's script beside other packages. */
function runBeside(packages: string[], args: string[]): string {
  const folder = emptyProject(tarball, ...packages);
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return run(process.execPath, args, folder);
}

describe('beside the tarball', () => {
  it.each(['msw@2', 'msw@3'])('%s answers the calls that a merchant tests', msw => {
    expect(runBeside([msw], ['msw.mjs'])).toBe('consumer: done\n');
  });

  it.each(['nock@14', 'nock@15'])('%s answers the calls that a merchant tests', nock => {
    expect(runBeside([nock], ['nock.mjs'])).toBe('consumer: done\n');
  });

  it("OpenTelemetry's instrumentation of http records each attempt of a call as a span of its own", () => {
    // Their newest releases ask for different versions of the API.
    const packages = ['@opentelemetry/instrumentation-http@0.223', '@opentelemetry/sdk-trace-node@2'];
    expect(runBeside(packages, ['opentelemetry.cjs'])).toBe('consumer: done\n');
  });
});
