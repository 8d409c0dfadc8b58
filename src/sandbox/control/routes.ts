// The sandbox's own API, for tests in any language: everything that the pages and the command line do, as JSON.
import type { Hono } from 'hono/tiny';
import * as z from 'zod';
import type { Parts } from '../parts.ts';
import { addRoutes, type Route, route } from './define.ts';
import { machineryRoutes } from './machinery.ts';
import { describe } from './openapi.ts';
import { paymentRoutes } from './payments.ts';
import { scenarioRoutes } from './scenarios.ts';

export function addControl(app: Hono, parts: Parts): void {
  const routes: Route[] = [...paymentRoutes(parts), ...scenarioRoutes(parts), ...machineryRoutes(parts)];
  const description = route({
    method: 'get',
    path: '/openapi.json',
    name: 'getDescription',
    tag: 'Sandbox',
    summary: 'This description.',
    answer: z.looseObject({}),
    run: (): object => describe(routes),
  });
  routes.push(description);
  addRoutes(app, routes);
}
