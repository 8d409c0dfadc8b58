// A payment as a test: what is written compiles, and replays what happened.
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import ts from 'typescript';
import { expect, it, onTestFinished } from 'vitest';
import { eventful, exported } from '../support/eventful.ts';
import { isCi, lacks } from '../support/skips.ts';

const root = fileURLToPath(new URL('../../', import.meta.url));

it.skipIf(lacks(isCi, 'a payment as a test that is compiled and run, which CI plays'))(
  'a payment as a test compiles, runs, and passes for a handler that is right',
  { timeout: 60_000 },
  async () => {
    const parent = join(root, 'test/readme-examples');
    mkdirSync(parent, { recursive: true });
    const folder = mkdtempSync(join(parent, 'exported-'));
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
    const { sandbox, id } = await eventful();
    const file = join(folder, 'eventful.test.ts');
    const code = await exported(sandbox, id);
    writeFileSync(file, code);
    const { config } = ts.readConfigFile(join(root, 'tsconfig.json'), ts.sys.readFile);
    const { options } = ts.parseJsonConfigFileContent(config, ts.sys, root);
    const program = ts.createProgram([file, join(root, 'src/sandbox/raw-files.d.ts')], options);
    // That file alone: the source has its check already.
    const told = ts
      .getPreEmitDiagnostics(program, program.getSourceFile(file))
      .map(one => ts.flattenDiagnosticMessageText(one.messageText, '\n'));
    expect(told).toEqual([]);
    const wrong = join(folder, 'wrong.test.ts');
    // The merchant's own handler, which believes everything.
    writeFileSync(
      wrong,
      code.replace(
        'createWebhookHandler({ gateway, onPayment: () => {} })',
        'async (_: Request) => void gateway ?? new Response()',
      ),
    );
    const config2 = join(folder, 'vitest.config.ts');
    writeFileSync(
      config2,
      `import base from '${join(root, 'vitest.config.ts')}';
export default { root: '${folder}', resolve: base.resolve, test: { css: true, include: ['*.test.ts'] } };`,
    );
    const vitest = join(root, 'node_modules/vitest/vitest.mjs');
    const args = [
      vitest,
      'run',
      '--config',
      config2,
      '--reporter',
      'json',
      '--outputFile',
      join(folder, 'report.json'),
    ];
    const { VITEST, NODE_OPTIONS, ...env } = process.env;
    spawnSync(process.execPath, args, { cwd: folder, env });
    const report = JSON.parse(readFileSync(join(folder, 'report.json'), 'utf8'));
    const results = report.testResults.map(
      ({
        name,
        status,
        assertionResults: [result],
      }: {
        name: string;
        status: string;
        assertionResults: { failureMessages: string[] }[];
      }) => [name.split('/').at(-1), status, result?.failureMessages.join() ?? ''],
    );
    expect(results.sort()).toEqual([
      ['eventful.test.ts', 'passed', ''],
      ['wrong.test.ts', 'failed', expect.stringContaining('AssertionError: expected [ …(3) ] to deeply equal []')],
    ]);
  },
);
