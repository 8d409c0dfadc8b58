// The sandbox's own JSON API. It covers everything in the pages and the command line.
import { JSON_TYPE } from '../answer.ts';
import { type Route, route } from './define.ts';
import { MACHINERY_ROUTES } from './machinery.ts';
import { PAYMENT_ROUTES } from './payments.ts';
import { SCENARIO_ROUTES } from './scenarios.ts';

/** Also the source of the command line and of the description. */
export const ROUTES: readonly Route[] = [
  ...PAYMENT_ROUTES,
  ...SCENARIO_ROUTES,
  ...MACHINERY_ROUTES,
  route('GET /openapi.json', 'getDescription', 'This description.', {
    run: async () => {
      const { default: description } = await import('../../../docs/openapi/sandbox.json?raw');
      return new Response(description, { headers: JSON_TYPE });
    },
  }),
];
