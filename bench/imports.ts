// The cost of an import: CPU milliseconds over a bare start of Node, each in a new process, in turn.
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { alternate, median } from './statistics.ts';

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
const PRINT = 'const { user, system } = process.cpuUsage(); console.log((user + system) / 1000)';
const cwd = fileURLToPath(new URL('.', import.meta.url));

/** Milliseconds. */
function cpu(type: string, code: string): number {
  const { stdout, stderr } = spawnSync(process.execPath, [`--input-type=${type}`, '-e', `${code}\n${PRINT}`], { cwd });
  const ms = Number(stdout);
  if (Number.isNaN(ms) || ms === 0) throw new Error(String(stderr));
  return ms;
}

export interface Import {
  name: string;
  esm: number;
  cjs: number;
}

export async function imports(rounds: number): Promise<Import[]> {
  const scenes = Object.entries(MODULES).map(([name, module]) => {
    const scene = () => {
      const bare = cpu('module', '');
      const [esm, cjs] = [cpu('module', `await import('${module}');`), cpu('commonjs', `require('${module}');`)];
      return { esm: esm - bare, cjs: cjs - bare };
    };
    return [name, scene] as const;
  });
  const seen = await alternate(rounds, Object.fromEntries(scenes));
  return [...seen].map(([name, all]) => ({
    name,
    esm: median(all.map(({ esm }) => esm)),
    cjs: median(all.map(({ cjs }) => cjs)),
  }));
}

if (import.meta.main) console.table(await imports(Number(process.argv[2] ?? 5)));
