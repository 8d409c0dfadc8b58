// Writes the API reference of every entry point as pages, from the doc comments in src.
import { globSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { posix } from 'node:path';
import { Application } from 'typedoc';
import ts from 'typescript';
import { generated, manifest, root } from './pages.ts';

interface Exported {
  import?: { types?: string };
}

/** `payment-gateway-sdk/sandbox` and `src/sandbox/index.ts`, of every entry point with types that package.json exports. */
const entryPoints = Object.entries(manifest.exports as Record<string, Exported | string>).flatMap(
  ([path, exported]) => {
    const types = typeof exported === 'object' ? exported.import?.types : undefined;
    if (!types) return [];
    return [
      { name: path.replace(/^\./, manifest.name), source: types.replace('./dist/', 'src/').replace('.d.ts', '.ts') },
    ];
  },
);

/** @throws if TypeDoc has anything to warn of: such as a link that leads nowhere */
export async function writeApi(): Promise<void> {
  rmSync(`${generated}api`, { recursive: true, force: true });
  showThrown();
  const app = await Application.bootstrapWithPlugins({
    plugin: ['typedoc-plugin-markdown'],
    // Parts of public types are shown where they are used.
    validation: { notExported: false },
    tsconfig: `${root}docs/site/tsconfig.api.json`,
    entryPoints: entryPoints.map(({ source }) => root + source),
    basePath: root,
    name: 'API reference',
    readme: 'none',
    out: `${generated}api`,
    router: 'member',
    disableSources: true,
    excludeInternal: true,
    excludePrivate: true,
    treatWarningsAsErrors: true,
    sort: ['source-order'],
    logLevel: 'Warn',
    ...LOOKS,
  });
  const project = await app.convert();
  if (!project) throw new Error('TypeDoc could not read the entry points.');
  app.validate(project);
  for (const module of project.children ?? []) {
    const entry = entryPoints.find(({ source }) => posix.dirname(source) === module.name);
    if (!entry) throw new Error(`No entry point is ${module.name}.`);
    module.name = entry.name;
  }
  await app.generateOutputs(project);
  if (app.logger.hasErrors() || app.logger.hasWarnings()) throw new Error('TypeDoc has warned, see above.');
  finish();
}

/** Options of typedoc-plugin-markdown. */
const LOOKS = {
  entryFileName: 'index',
  pageTitleTemplates: { member: ({ rawName }: { rawName: string }) => rawName.replace(/<.*/, '') },
  hidePageHeader: true,
  hideBreadcrumbs: true,
  useCodeBlocks: true,
  expandParameters: true,
  sanitizeComments: true,
  parametersFormat: 'table',
  interfacePropertiesFormat: 'table',
  classPropertiesFormat: 'table',
  typeAliasPropertiesFormat: 'table',
  enumMembersFormat: 'table',
  propertyMembersFormat: 'table',
  typeDeclarationFormat: 'table',
  indexFormat: 'table',
  tableColumnSettings: { hideSources: true, hideModifiers: true, hideInherited: true, hideOverrides: true },
};

/** TypeDoc skips the braces of `@throws {InvalidRequestError} before …`: it would not say which error is thrown. */
function showThrown(): void {
  const read = ts.sys.readFile;
  ts.sys.readFile = (path, encoding) => {
    const text = read(path, encoding);
    return path.includes('/src/') ? text?.replace(/@throws \{(\w+)\}/g, '@throws `$1`') : text;
  };
}

/** Pages as they were written, with links in the places where TypeDoc has none. */
function finish(): void {
  const files = globSync('api/**/*.md', { cwd: generated }).map(path => path.replaceAll('\\', '/'));
  const pages = new Map(files.map(path => [posix.basename(path, '.md'), path]));
  for (const file of files) {
    const linkTo = (name: string) => {
      const page = pages.get(name);
      return page && page !== file ? `[${name}](${posix.relative(posix.dirname(file), page)})` : undefined;
    };
    const text = readFileSync(generated + file, 'utf8');
    const listed = text.replace(THROWS, section => listThrown(section, linkTo));
    writeFileSync(generated + file, file.includes('/type-aliases/') ? linkParts(listed, linkTo) : listed);
  }
}

type LinkTo = (name: string) => string | undefined;

/** All that a function throws: a heading for each of them. */
const THROWS = /(?:^#+ Throws\n\n(?:(?!#|\*\*\*|```).*\n)+)+/gm;

/** One heading, and a list of the errors, which are links to their pages. */
function listThrown(section: string, linkTo: LinkTo): string {
  const [heading = '', ...errors] = section.split(/^(#+ Throws)\n/m).filter(part => part.trim());
  const lines = errors
    .filter(part => part !== heading)
    .map(part =>
      `- ${part.trim().replace(/\n/g, ' ')}`.replace(/^- `(\w+)`/, (all, name) => `- ${linkTo(name) ?? all.slice(2)}`),
    );
  return `${heading}\n\n${lines.join('\n')}\n\n`;
}

/** The types that a type is made of, as links: in a block of code there are none. */
function linkParts(text: string, linkTo: LinkTo): string {
  return text.replace(/^# .*\n\n```ts\n([\s\S]+?)\n```\n/, (all, code: string) => {
    const names = new Set(code.replace(/(["']).*?\1/g, '').match(/\b[A-Z]\w+/g));
    const links = [...names].flatMap(name => linkTo(name) ?? []);
    return links.length > 0 ? `${all}\nMade of: ${links.join(', ')}.\n` : all;
  });
}
