// The routes for scenarios.
import * as z from 'zod';
import { httpUrl } from '../../schemas/url.ts';
import { scenarioSchema } from '../scenarios/format.ts';
import { doesOf, LIBRARY, textOf } from '../scenarios/library.ts';
import { play } from '../scenarios/play.ts';
import { checkScenario, readScenario } from '../scenarios/read.ts';
import { type Route, route, tagged } from './define.ts';
import { deliveryShape, paymentShape } from './shapes.ts';

const to = httpUrl.optional().describe("Your callback address, in place of the sandbox's `forwardTo`.");

const played = z
  .object({
    payment: paymentShape,
    deliveries: z.array(deliveryShape).describe('Every post of its callbacks, in order.'),
    problems: z.array(z.string()).describe('What was not as expected, each in a sentence: empty if everything was.'),
    note: z.string().optional().describe('What could not be checked, and what to do.'),
  })
  .meta({ id: 'Played', description: 'What came of a scenario.' });

export const SCENARIO_ROUTES: readonly Route[] = tagged('Scenarios', [
  route('GET /scenarios', 'listScenarios', 'The scenarios that the sandbox brings along.', {
    answer: z.object({
      scenarios: z
        .array(
          z.object({
            name: z.string().describe('To play it by.'),
            does: z.string().describe('In one sentence.'),
            text: z.string().describe('Its file, in YAML.'),
          }),
        )
        .describe('All of them.'),
    }),
    run: () => ({
      scenarios: Object.entries(LIBRARY).map(([name, text]) => ({ name, does: doesOf(text), text })),
    }),
  }),
  route('POST /scenarios/{name}', 'playScenario', 'Plays one of them, and answers once it has ended.', {
    body: z.strictObject({ to }),
    answer: played,
    errors: ['unknown_scenario', 'refused'],
    run: async (parts, { id: name, body, request }) =>
      play(parts, await readScenario(textOf(name)), { ...body, name, origin: new URL(request.url).origin }),
  }),
  route('POST /scenarios', 'playOwnScenario', 'Plays a scenario of your own.', {
    body: z.strictObject({
      scenario: z
        .union([z.string().describe('YAML.'), z.looseObject({}).meta({ ...scenarioSchema.meta() })])
        .describe('YAML as text, or the same as JSON.'),
      to,
    }),
    answer: played,
    errors: ['refused'],
    run: async (parts, { body: { scenario, to }, request }) => {
      const checked = typeof scenario === 'string' ? await readScenario(scenario) : checkScenario(scenario);
      return play(parts, checked, { to, name: 'scenario', origin: new URL(request.url).origin });
    },
  }),
]);
