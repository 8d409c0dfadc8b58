// Builds the site into docs/site/dist: `npm run docs`. It fails if a link leads nowhere, or TypeDoc has anything to warn of.
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { build } from 'vitepress';
import { writeApi } from './api.ts';
import { deadLinks } from './check.ts';
import { stagePages } from './stage.ts';

const here = fileURLToPath(new URL('.', import.meta.url));

stagePages(readFileSync(`${here}home.md`, 'utf8'));
await writeApi();
await build(here);
const dead = deadLinks(`${here}dist`, process.env.DOCS_BASE);
if (dead.length > 0) throw new Error(`Dead links:\n${dead.join('\n')}`);
