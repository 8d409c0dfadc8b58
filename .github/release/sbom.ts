// Prints the bill of materials of the package as CycloneDX: the packages that dist contains.
import { execFileSync } from 'node:child_process';
import { globSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

interface Component {
  'bom-ref': string;
  name: string;
  version: string;
  scope?: string;
}

/** What npm makes of the lock file, as far as it is read here. */
interface Bom {
  metadata: { component: Component };
  components: Component[];
  dependencies: { ref: string; dependsOn: string[] }[];
}

const root = fileURLToPath(new URL('../../', import.meta.url));

/** The packages that the source maps of dist name. */
function contained(): Set<string> {
  const maps = globSync(`${root}dist/**/*.map`).map(file => readFileSync(file, 'utf8'));
  return new Set(maps.flatMap(map => [...map.matchAll(/"[./]*node_modules\/([^/]+)/g)].map(([, name = '']) => name)));
}

export function billOfMaterials(): Bom {
  const { name } = JSON.parse(readFileSync(`${root}package.json`, 'utf8'));
  const inside = contained();
  const args = ['sbom', '--package-lock-only', '--sbom-format', 'cyclonedx', '--sbom-type', 'library'];
  const shell = process.platform === 'win32';
  const bom: Bom = JSON.parse(
    execFileSync('npm', args, { cwd: root, shell, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }),
  );
  // A tool may install another version below its own folder.
  const { packages } = JSON.parse(readFileSync(`${root}package-lock.json`, 'utf8'));
  const isOurs = ({ name, version }: Component) => packages[`node_modules/${name}`]?.version === version;
  const components = bom.components.filter(one => isOurs(one) && inside.has(one.name));
  // npm marks dev dependencies as optional, but dist contains these.
  for (const component of components) component.scope = 'required';
  const refs = components.map(component => component['bom-ref']);
  // npm calls it after the folder that it lies in.
  bom.metadata.component.name = name;
  const ofPackage = { ref: bom.metadata.component['bom-ref'], dependsOn: refs };
  const ofParts = refs.map(ref => ({ ref, dependsOn: [] }));
  return { ...bom, components, dependencies: [ofPackage, ...ofParts] };
}

if (import.meta.main) console.log(JSON.stringify(billOfMaterials(), null, 2));
