// The routes for the sandbox itself: calls, faults, the clock, events, reset.
import * as z from 'zod';
import type { Clock } from '../clock.ts';
import { environmentOf } from '../environment.ts';
import { eventStream } from '../event-stream.ts';
import type { Call } from '../events.ts';
import { faultFields } from '../faults/faults.ts';
import { type Route, route } from './define.ts';
import { pageOf, paging, total } from './payments.ts';
import { callShape, clockShape, faultName, faultShape } from './shapes.ts';

const NOTHING = z.undefined();

export const MACHINERY_ROUTES: readonly Route[] = [
  route({
    method: 'get',
    path: '/info',
    name: 'getInfo',
    tag: 'Sandbox',
    summary: 'How a client is set up for this sandbox.',
    answer: z.object({
      baseUrl: z.string().describe('Where it listens.'),
      apiKey: z.string().describe('The bearer that calls must carry.'),
      signKey: z.string().describe('The key that creates must be signed with.'),
      signatureEncoding: z.enum(['hex', 'base64']).describe('How a signature must be written.'),
      terminal: z.enum(['standard', 'onramp']).describe('Which methods deposits may use.'),
      environment: z.array(z.string()).describe('Lines for the .env of an app.'),
    }),
    run: ({ settings }, { request }) => {
      const { apiKey, signKey, signatureEncoding, terminal } = settings;
      const baseUrl = new URL(request.url).origin;
      return { baseUrl, apiKey, signKey, signatureEncoding, terminal, environment: environmentOf(baseUrl, settings) };
    },
  }),
  route({
    method: 'get',
    path: '/calls',
    name: 'listCalls',
    tag: 'Calls',
    summary: 'The latest calls of the gateway, refused ones too, the newest first.',
    query: z.strictObject({ paymentId: z.string().optional(), ...paging }),
    answer: z.object({ calls: z.array(callShape).describe('Those of this page.'), total }),
    run: ({ log }, { query: { paymentId, ...page } }) => {
      const found = log.calls.latest().filter(call => paymentId === undefined || call.paymentId === paymentId);
      return { calls: pageOf(found, page).map(shownCall), total: found.length };
    },
  }),
  route({
    method: 'get',
    path: '/calls/{id}',
    name: 'getCall',
    tag: 'Calls',
    summary: 'One call: its headers, its exact bytes, its signature, its answer.',
    answer: callShape,
    errors: ['unknown_call'],
    run: ({ log }, { id }) => shownCall(log.call(Number(id))),
  }),
  route({
    method: 'get',
    path: '/faults',
    name: 'listFaults',
    tag: 'Faults',
    summary: 'The faults that are armed, in the order in which they will be injected.',
    answer: z.object({ faults: z.array(faultShape).describe('Those that wait.') }),
    run: ({ faults }) => ({ faults: faults.armed }),
  }),
  route({
    method: 'post',
    path: '/faults',
    name: 'armFault',
    tag: 'Faults',
    summary: 'Arms a fault.',
    body: z.strictObject({ fault: faultName, ...faultFields }),
    answer: faultShape,
    run: ({ faults }, { body: { fault, ...options } }) => faults.next(fault, options),
  }),
  route({
    method: 'delete',
    path: '/faults',
    name: 'disarmFaults',
    tag: 'Faults',
    summary: 'Disarms every fault.',
    answer: NOTHING,
    run: ({ faults }) => faults.clear(),
  }),
  route({
    method: 'delete',
    path: '/faults/{id}',
    name: 'disarmFault',
    tag: 'Faults',
    summary: 'Disarms one fault.',
    answer: NOTHING,
    errors: ['unknown_fault'],
    run: ({ faults }, { id }) => faults.disarm(Number(id)),
  }),
  route({
    method: 'get',
    path: '/clock',
    name: 'getClock',
    tag: 'Sandbox',
    summary: "The sandbox's clock.",
    answer: clockShape,
    run: ({ clock }) => shownClock(clock),
  }),
  route({
    method: 'put',
    path: '/clock',
    name: 'moveClock',
    tag: 'Sandbox',
    summary: 'Moves the clock, forward by some time or to a time; callbacks that waited for it are posted.',
    body: z.union([
      z.strictObject({ advance: z.number().min(0).describe('Milliseconds.') }),
      z.strictObject({ at: z.number().min(0).describe('Milliseconds since 1970.') }),
    ]),
    answer: clockShape,
    errors: ['refused'],
    run: ({ clock }, { body }) => {
      if ('advance' in body) clock.advance(body.advance);
      else clock.set(body.at);
      return shownClock(clock);
    },
  }),
  route({
    method: 'get',
    path: '/events',
    name: 'streamEvents',
    tag: 'Sandbox',
    summary: 'What happens from now on, one JSON value per line.',
    answer: { contentType: 'application/x-ndjson', description: 'A stream that does not end by itself.' },
    run: ({ log }) =>
      eventStream(log, {
        type: 'application/x-ndjson',
        hello: '\n',
        textOf: event => `${JSON.stringify(event)}\n`,
      }),
  }),
  route({
    method: 'post',
    path: '/reset',
    name: 'reset',
    tag: 'Sandbox',
    summary: 'Forgets every payment, call, callback and fault, and sets the clock right.',
    answer: NOTHING,
    run: ({ reset }) => reset(),
  }),
];

const shownCall = ({ body, ...call }: Call) => ({
  ...call,
  body: new TextDecoder().decode(body),
  bodyBase64: Buffer.from(body).toString('base64'),
});

const shownClock = (clock: Clock) => {
  const now = clock.now();
  return { now, iso: new Date(now).toISOString(), offset: clock.offset };
};
