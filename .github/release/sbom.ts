// Prints the bill of materials of the package, as CycloneDX: what an installation brings along, and what dist carries inside.
import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

interface Component {
  'bom-ref': string;
  name: string;
  version: string;
  scope?: string;
  properties?: { name: string; value: string }[];
}

/** What npm makes of the lock file, as far as it is read here. */
interface Bom {
  metadata: { component: Component };
  components: Component[];
  dependencies: { ref: string; dependsOn: string[] }[];
}

const root = fileURLToPath(new URL('../../', import.meta.url));

/** Packages of which `dist/vendor` holds parts: `hono-tiny.js` is of hono. */
const carried = (): Set<string> => new Set(readdirSync(`${root}dist/vendor`).map(file => file.split(/[-.]/)[0] ?? ''));

export function billOfMaterials(): Bom {
  const { name, dependencies } = JSON.parse(readFileSync(`${root}package.json`, 'utf8'));
  const inside = carried();
  const installed = new Set(Object.keys(dependencies));
  const args = ['sbom', '--package-lock-only', '--sbom-format', 'cyclonedx', '--sbom-type', 'library'];
  const shell = process.platform === 'win32';
  const bom: Bom = JSON.parse(
    execFileSync('npm', args, { cwd: root, shell, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }),
  );
  // A tool may install another version below its own folder.
  const { packages } = JSON.parse(readFileSync(`${root}package-lock.json`, 'utf8'));
  const isOurs = ({ name, version }: Component) => packages[`node_modules/${name}`]?.version === version;
  const components = bom.components.filter(one => isOurs(one) && (inside.has(one.name) || installed.has(one.name)));
  for (const component of components) {
    // The tests need most of them, but what is carried inside is in production.
    component.scope = 'required';
    component.properties = inside.has(component.name) ? [{ name: `${name}:carried`, value: 'dist/vendor' }] : [];
  }
  const refs = components.map(component => component['bom-ref']);
  // npm calls it after the folder that it lies in.
  bom.metadata.component.name = name;
  const ofPackage = { ref: bom.metadata.component['bom-ref'], dependsOn: refs };
  const ofParts = refs.map(ref => ({ ref, dependsOn: [] }));
  return { ...bom, components, dependencies: [ofPackage, ...ofParts] };
}

if (import.meta.main) console.log(JSON.stringify(billOfMaterials(), null, 2));
