// The installed tarball that would be published, as soon as it is there.
import { copyFileSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { afterAll, inject } from 'vitest';
import type { Packing } from './pack.ts';

const report = inject('packing');
while (!existsSync(report)) await delay(100);
const packing: Packing = JSON.parse(readFileSync(report, 'utf8'));
if ('error' in packing) throw new Error(packing.error);

/** The tarball's path, the paths of its files, and a project that has installed only it. */
export const { tarball, packed, app } = packing;
export const installed = (path = '') => join(app, 'node_modules/payment-gateway-sdk', path);

const consumers = fileURLToPath(new URL('consumers/', import.meta.url));

/** @returns a folder of this file's own in that project, with a merchant's scripts */
export function folderInApp(): string {
  const folder = mkdtempSync(join(app, 'own-'));
  afterAll(() => rmSync(folder, { recursive: true, force: true }));
  writeFileSync(join(folder, 'package.json'), '{ "name": "own", "private": true }');
  for (const file of readdirSync(consumers)) copyFileSync(join(consumers, file), join(folder, file));
  return folder;
}
