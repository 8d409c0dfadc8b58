// The cost of an import: CPU milliseconds over a bare start of Node, each in a new process, in turn.
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { alternate, type Line } from './statistics.ts';

const MODULES = ['payment-gateway-sdk', 'stripe'];
const PRINT = 'const { user, system } = process.cpuUsage(); console.log((user + system) / 1000)';
const cwd = fileURLToPath(new URL('.', import.meta.url));

/** Milliseconds. */
function cpu(type: string, code: string): number {
  const { stdout, stderr } = spawnSync(process.execPath, [`--input-type=${type}`, '-e', `${code}\n${PRINT}`], { cwd });
  const ms = Number(stdout);
  if (Number.isNaN(ms) || ms === 0) throw new Error(String(stderr));
  return ms;
}

export async function imports(rounds: number): Promise<Line[]> {
  const scenes = MODULES.map(module => {
    const scene = () => {
      const more = (type: string, code: string) => cpu(type, code) - cpu(type, '');
      return { esm: more('module', `await import('${module}');`), cjs: more('commonjs', `require('${module}');`) };
    };
    return [module, scene] as const;
  });
  const seen = await alternate(rounds, Object.fromEntries(scenes));
  return (['esm', 'cjs'] as const).map(form => {
    const figures = (name: string) => seen(name).map(one => one[form]);
    const what = `import of ., ${form === 'esm' ? 'ESM' : 'CommonJS'}`;
    return {
      what,
      unit: 'ms',
      ours: figures('payment-gateway-sdk'),
      of: 'stripe',
      theirs: figures('stripe'),
      most: 0.5,
    };
  });
}
