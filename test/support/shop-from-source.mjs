// Lets plain Node run examples/shop with the package from source, though the shop asks for it by its name.
import './from-source.mjs';
import { registerHooks } from 'node:module';

const SOURCES = new Map([
  ['payment-gateway-sdk', 'index.ts'],
  ['payment-gateway-sdk/postgres', 'postgres/index.ts'],
  ['payment-gateway-sdk/sandbox', 'sandbox/index.ts'],
]);

registerHooks({
  resolve(specifier, context, nextResolve) {
    const source = SOURCES.get(specifier);
    return nextResolve(source ? new URL(`../../src/${source}`, import.meta.url).href : specifier, context);
  },
});
