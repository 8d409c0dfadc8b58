// Lets plain Node import the package by its name, and get its source, as Vitest does: for examples that run in processes.
import { registerHooks } from 'node:module';

const PACKAGE = /^payment-gateway-sdk(\/[a-z]+)?$/;

registerHooks({
  resolve(specifier, context, nextResolve) {
    const [name, part = ''] = PACKAGE.exec(specifier) ?? [];
    return nextResolve(name ? new URL(`../../src${part}/index.ts`, import.meta.url).href : specifier, context);
  },
});
