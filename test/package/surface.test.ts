// The public surface, and the unused parts of the sources: neither changes unnoticed.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { root, run } from './consumer.ts';
import { packed } from './tarball.ts';
import { load, tool } from './tools.ts';

const ENTRIES = ['index', 'sandbox/index', 'postgres/index', 'mysql/index', 'otel/index', 'testing/index'];

const { CompilerState, Extractor, ExtractorConfig } = load('@microsoft/api-extractor');
const declarationsOf = (entry: string) => join(root, 'dist', `${entry}.d.ts`);
const additionalEntryPoints = ENTRIES.map(declarationsOf);
/** The compiler reads all declarations once. */
let compilerState: unknown;

/** Returns the public declarations of an entry point, by API Extractor. */
function declarationsIn(entry: string, folder: string): string[] {
  const silent = { default: { logLevel: 'none' } };
  const config = ExtractorConfig.prepare({
    configObjectFullPath: undefined,
    packageJsonFullPath: join(root, 'package.json'),
    configObject: {
      projectFolder: root,
      mainEntryPointFilePath: declarationsOf(entry),
      newlineKind: 'lf',
      compiler: {
        overrideTsconfig: {
          compilerOptions: {
            target: 'es2024',
            module: 'nodenext',
            lib: ['es2024', 'dom'],
            types: ['node'],
            strict: true,
          },
          files: additionalEntryPoints,
        },
      },
      apiReport: {
        enabled: true,
        // A type that an export mentions is public as well.
        includeForgottenExports: true,
        reportFolder: folder,
        reportTempFolder: folder,
        reportFileName: 'report.api.md',
      },
      docModel: { enabled: false },
      dtsRollup: { enabled: false },
      tsdocMetadata: { enabled: false },
      messages: {
        compilerMessageReporting: { default: { logLevel: 'error' } },
        extractorMessageReporting: silent,
        tsdocMessageReporting: silent,
      },
    },
  });
  compilerState ??= CompilerState.create(config, { additionalEntryPoints });
  const { errorCount } = Extractor.invoke(config, {
    compilerState,
    localBuild: true,
    messageCallback: (message: { handled: boolean }) => {
      message.handled = true;
    },
  });
  expect(errorCount).toBe(0);
  const [, code = ''] = /```ts\n([\s\S]*)```/.exec(readFileSync(join(folder, 'report.api.md'), 'utf8')) ?? [];
  // Its marks are the same everywhere.
  return code
    .replace(/^ *\/\/ (?:@public|\(undocumented\)|\(No @package).*\n/gm, '')
    .trim()
    .split(/\n\n+/);
}

/** The report of each entry point. A declaration of an earlier report is only named, if it is exported. */
function reportsOf(folder: string): Map<string, string> {
  const seen = new Set<string>();
  return new Map(
    ENTRIES.map(entry => {
      const own: string[] = [];
      const further: string[] = [];
      for (const declaration of declarationsIn(entry, folder)) {
        const bare = declaration.replace(/^export /, '');
        const [, name = ''] =
          /^export (?:(?:declare|abstract|class|const|function|interface|type) )+(\w+)/.exec(declaration) ?? [];
        if (!seen.has(bare)) own.push(declaration);
        else if (name) further.push(`export { ${name} };`);
        seen.add(bare);
      }
      return [entry, `\`\`\`ts\n${[...own, further.join('\n')].filter(Boolean).join('\n\n')}\n\`\`\`\n`];
    }),
  );
}

describe('the public surface', () => {
  let reports: Map<string, string>;
  beforeAll(() => {
    // The declarations that the tarball was made of.
    expect(packed).toContain('dist/index.d.ts');
    const folder = mkdtempSync(join(tmpdir(), 'payment-gateway-sdk-surface-'));
    reports = reportsOf(folder);
    rmSync(folder, { recursive: true });
  }, 300_000);

  // To write it, after a look at the difference: UPDATE_DOCS=1 npx vitest run --project full test/package/surface.test.ts
  it.each(ENTRIES)('of %s is as the report in test/package/api says', entry => {
    const file = join(root, `test/package/api/${entry.replace('/index', '')}.api.md`);
    const report = reports.get(entry) ?? '';
    if (process.env.UPDATE_DOCS) writeFileSync(file, report);
    expect(report).toBe(readFileSync(file, 'utf8'));
  });

  it('and its sources have no file, export or dependency that nothing uses', () => {
    expect(
      run(process.execPath, [tool('knip/bin/knip.js'), '-c', 'test/package/knip.json', '--no-progress'], root),
    ).toBe('');
  });
});
