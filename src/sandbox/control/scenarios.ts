// The routes for scenarios.
import * as z from 'zod';
import { httpUrl } from '../../schemas/url.ts';
import { scenarioSchema } from '../scenarios/format.ts';
import { SCENARIOS } from '../scenarios/library.ts';
import { play } from '../scenarios/play.ts';
import { readScenario } from '../scenarios/read.ts';
import { testServer } from '../scenarios/report.ts';
import { route } from './define.ts';

const to = httpUrl.optional().describe("Your callback address, in place of the sandbox's `forwardTo`.");
const target = z.strictObject({ to });

export const SCENARIO_ROUTES = [
  route('GET /scenarios', 'listScenarios', 'The built-in scenarios.', { run: () => ({ scenarios: SCENARIOS }) }),
  route('POST /scenarios/:name', 'playScenario', 'Plays one of them, and answers once it has ended.', {
    fields: target,
    run: (parts, options, { id, origin }) => play(parts, id, options, origin),
  }),
  route('POST /scenarios', 'playOwnScenario', 'Plays a scenario of your own.', {
    fields: z.strictObject({
      scenario: z
        .union([z.string().describe('YAML.'), z.looseObject({}).meta({ ...scenarioSchema.meta() })])
        .describe('YAML as text, or the same as JSON.'),
      to,
    }),
    run: async (parts, { scenario, to }, { origin }) => {
      const read = typeof scenario === 'string' ? await readScenario(scenario) : scenario;
      return play(parts, read, { to }, origin);
    },
  }),
  route('POST /test', 'testServer', 'Plays every built-in scenario at your server, and answers with a report card.', {
    fields: target,
    run: (parts, options, { origin }) => testServer(parts, options, origin),
  }),
];
