// What importing costs, in CPU milliseconds over a bare start of Node, each in a new process, interleaved.
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { median } from './statistics.ts';

const MODULES = {
  'payment-gateway-sdk': 'payment-gateway-sdk',
  'payment-gateway-sdk/postgres': 'payment-gateway-sdk/postgres',
  stripe: 'stripe',
  mollie: '@mollie/api-client',
  adyen: '@adyen/api-library',
  paddle: '@paddle/paddle-node-sdk',
  square: 'square',
  openai: 'openai',
};
const TELL = 'const { user, system } = process.cpuUsage(); console.log((user + system) / 1000)';
const cwd = fileURLToPath(new URL('.', import.meta.url));

/** Milliseconds. */
function cpu(type: string, code: string): number {
  const { stdout, stderr } = spawnSync(process.execPath, [`--input-type=${type}`, '-e', `${code}\n${TELL}`], { cwd });
  const ms = Number(stdout);
  if (Number.isNaN(ms) || ms === 0) throw new Error(String(stderr));
  return ms;
}

export interface Import {
  name: string;
  esm: number;
  cjs: number;
}

export function imports(rounds: number): Import[] {
  const seen = new Map<string, number[]>();
  const add = (key: string, ms: number) => seen.set(key, [...(seen.get(key) ?? []), ms]);
  for (let round = -1; round < rounds; round++) {
    const bare = cpu('module', '');
    for (const [name, module] of Object.entries(MODULES)) {
      const esm = cpu('module', `await import('${module}');`);
      const cjs = cpu('commonjs', `require('${module}');`);
      // The first round fills the caches of the disk.
      if (round < 0) continue;
      add(`${name} esm`, esm - bare);
      add(`${name} cjs`, cjs - bare);
    }
  }
  const of = (key: string) => median(seen.get(key) ?? []);
  return Object.keys(MODULES).map(name => ({ name, esm: of(`${name} esm`), cjs: of(`${name} cjs`) }));
}

if (import.meta.main) {
  for (const { name, esm, cjs } of imports(Number(process.argv[2] ?? 5))) {
    console.log(name.padEnd(30), esm.toFixed(0).padStart(5), cjs.toFixed(0).padStart(5));
  }
}
