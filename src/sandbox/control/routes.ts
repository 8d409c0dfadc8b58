// The sandbox's own JSON API, for tests in any language. It covers everything in the pages and the command line.
import type { Hono } from 'hono/tiny';
import * as z from 'zod';
import type { Parts } from '../parts.ts';
import { addRoutes, type Route, route } from './define.ts';
import { MACHINERY_ROUTES } from './machinery.ts';
import { describe } from './openapi.ts';
import { PAYMENT_ROUTES } from './payments.ts';
import { SCENARIO_ROUTES } from './scenarios.ts';

/** Every route of the API, also the source of the command line. */
export const ROUTES: readonly Route[] = [...PAYMENT_ROUTES, ...SCENARIO_ROUTES, ...MACHINERY_ROUTES];

export function addControl(app: Hono, parts: Parts): void {
  const description = route('GET /openapi.json', 'getDescription', 'This description.', {
    answer: z.looseObject({}),
    run: (): object => describe(routes),
  });
  const routes = [...ROUTES, description];
  addRoutes(app, routes, parts);
}
