// What the package gives, and what its sources have that nothing uses: neither changes unnoticed.
import { mkdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { root, run } from './consumer.ts';
import { packed } from './tarball.ts';
import { load, tool } from './tools.ts';

const ENTRIES = ['index', 'sandbox/index', 'postgres/index', 'mysql/index', 'otel/index', 'testing/index'];
const reports = join(root, 'test/package/api');

const { CompilerState, Extractor, ExtractorConfig } = load('@microsoft/api-extractor');
const declarationsOf = (entry: string) => join(root, 'dist', `${entry}.d.ts`);
const additionalEntryPoints = ENTRIES.map(declarationsOf);
/** The compiler reads all declarations once. */
let compilerState: unknown;

/** Writes what the declarations of an entry point say into a folder. @returns whether the report that was there said the same */
function reportOn(entry: string, folder: string): boolean {
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
        // What is not exported, but seen in what is, is public as well.
        includeForgottenExports: true,
        reportFolder: reports,
        reportTempFolder: folder,
        reportFileName: `${entry.replace('/index', '')}.api.md`,
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
  const { apiReportChanged, errorCount } = Extractor.invoke(config, {
    compilerState,
    localBuild: process.env.UPDATE_DOCS !== undefined,
    messageCallback: (message: { handled: boolean }) => {
      message.handled = true;
    },
  });
  expect(errorCount).toBe(0);
  return !apiReportChanged;
}

describe('the public surface', () => {
  beforeAll(() => {
    // The declarations that the tarball was made of.
    expect(packed).toContain('dist/index.d.ts');
  });

  // Mend, after a look at the difference: UPDATE_DOCS=1 npx vitest run --project full test/package/surface.test.ts
  it.each(ENTRIES)('of %s is as the report in test/package/api says', entry => {
    const folder = join(reports, 'temp');
    mkdirSync(folder, { recursive: true });
    const isSame = reportOn(entry, folder);
    const name = `${entry.replace('/index', '')}.api.md`;
    const found = readFileSync(join(folder, name), 'utf8');
    rmSync(folder, { recursive: true });
    if (process.env.UPDATE_DOCS) return;
    expect(found).toBe(readFileSync(join(reports, name), 'utf8'));
    expect(isSame).toBe(true);
  });

  it('and its sources have no file, export or dependency that nothing uses', () => {
    expect(
      run(process.execPath, [tool('knip/bin/knip.js'), '-c', 'test/package/tools/knip.json', '--no-progress'], root),
    ).toBe('');
  });
});
