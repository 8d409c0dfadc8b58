// Installs what examples/shop needs, once before all tests, unless it is there. The SDK in it is this repository.
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { installIn } from './install-orms.ts';

export const shopFolder = fileURLToPath(new URL('../../examples/shop/', import.meta.url));

export const hasShop = (): boolean => existsSync(`${shopFolder}node_modules/payment-gateway-sdk`);

export default function install(): void {
  try {
    // Not `ci`: the lock file leaves the SDK out, which comes from the registry once the folder has been copied.
    if (!hasShop()) installIn(shopFolder, 'install', '--no-save', '--omit=dev', '../..');
  } catch (error) {
    // Whatever needs it skips with a loud line, or fails in CI.
    console.warn(String(error));
  }
}
