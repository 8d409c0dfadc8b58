// The tarball that would be published, as soon as it is packed.
import { existsSync, readFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { inject } from 'vitest';
import type { Packing } from './pack.ts';

const report = inject('packing');
while (!existsSync(report)) await delay(100);
const packing: Packing = JSON.parse(readFileSync(report, 'utf8'));
if ('error' in packing) throw new Error(packing.error);

/** Its path, and the paths of the files inside. */
export const { tarball, packed } = packing;
