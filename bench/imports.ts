// The cost of an import: CPU milliseconds over a bare start of Node, each in a new process, in turn.
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { alternate, type Line } from './statistics.ts';

const MODULES = ['payment-gateway-sdk', 'payment-gateway-sdk/postgres', 'stripe'];
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
      const bare = cpu('module', '');
      const [esm, cjs] = [cpu('module', `await import('${module}');`), cpu('commonjs', `require('${module}');`)];
      return { esm: esm - bare, cjs: cjs - bare };
    };
    return [module, scene] as const;
  });
  const seen = await alternate(rounds, Object.fromEntries(scenes));
  const [own = '', postgres = ''] = MODULES;
  const lineOf = (module: string, form: 'esm' | 'cjs') => {
    const figures = (name: string) => seen(name).map(one => one[form]);
    const what = `import of ${module === own ? '.' : module}, ${form === 'esm' ? 'ESM' : 'CommonJS'}`;
    return { what, unit: 'ms', ours: figures(module), of: 'stripe', theirs: figures('stripe') };
  };
  const forms = ['esm', 'cjs'] as const;
  return [...forms.map(form => ({ ...lineOf(own, form), most: 0.5 })), ...forms.map(form => lineOf(postgres, form))];
}
