// Lets plain Node import files as text (`?raw`), as Vitest and the build do: for tests that spawn processes from source.
import { readFileSync } from 'node:fs';
import { registerHooks } from 'node:module';

registerHooks({
  load(url, context, nextLoad) {
    if (!url.endsWith('?raw')) return nextLoad(url, context);
    const source = `export default ${JSON.stringify(readFileSync(new URL(url), 'utf8'))};`;
    return { format: 'module', source, shortCircuit: true };
  },
});
