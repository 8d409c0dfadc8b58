// The routes for the sandbox itself: calls, faults, the clock, events, reset.
import * as z from 'zod';
import type { Clock } from '../clock.ts';
import { duration } from '../duration.ts';
import { environmentOf } from '../environment.ts';
import { eventStream } from '../event-stream.ts';
import type { Call } from '../events.ts';
import { faultFields } from '../faults/faults.ts';
import { KEPT_LATEST } from '../log.ts';
import { type Route, route } from './define.ts';
import { flagText, pageOf, paging, total, whole } from './payments.ts';
import { callShape, clockShape, faultName, faultShape } from './shapes.ts';

/** A date, as milliseconds since 1970. */
const DATE = { error: 'must be a date such as 2026-11-21T09:00:00Z' };
const moment = z
  .union([z.number().min(0), z.string().transform(written => Date.parse(written))], DATE)
  .refine(at => !Number.isNaN(at), DATE)
  .meta({ title: 'date' });

export const MACHINERY_ROUTES: readonly Route[] = [
  route('GET /calls', 'listCalls', 'The latest calls of the gateway, refused ones too, the newest first.', {
    query: z.strictObject({ paymentId: z.string().optional(), ...paging }),
    answer: z.object({ calls: z.array(callShape).describe('Those of this page.'), total }),
    run: ({ log }, { query: { paymentId, ...page } }) => {
      const found = log.calls.latest.filter(call => paymentId === undefined || call.paymentId === paymentId);
      return { calls: pageOf(found, page).map(shownCall), total: found.length };
    },
  }),
  route('GET /calls/{id}', 'getCall', 'One call: its headers, its exact bytes, its signature, its answer.', {
    answer: callShape,
    errors: ['unknown_call'],
    run: ({ log }, { id }) => shownCall(log.call(Number(id))),
  }),
  route('GET /faults', 'listFaults', 'The faults that are armed, in the order in which they will be injected.', {
    answer: z.object({ faults: z.array(faultShape).describe('Those that wait.') }),
    run: ({ faults }) => ({ faults: faults.armed }),
  }),
  route('POST /faults', 'armFault', 'Arms a fault.', {
    body: z.strictObject({ fault: faultName, ...faultFields }),
    answer: faultShape,
    run: ({ faults }, { body: { fault, ...options } }) => faults.next(fault, options),
  }),
  route('DELETE /faults', 'disarmFaults', 'Disarms every fault.', {
    run: ({ faults }) => faults.clear(),
  }),
  route('DELETE /faults/{id}', 'disarmFault', 'Disarms one fault.', {
    errors: ['unknown_fault'],
    run: ({ faults }, { id }) => faults.disarm(Number(id)),
  }),
  route('GET /info', 'getInfo', 'How a client is set up for this sandbox.', {
    answer: z.object({
      baseUrl: z.string().describe('Where it listens.'),
      apiKey: z.string().describe('The bearer key of every call.'),
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
  route('GET /clock', 'getClock', "The sandbox's clock.", {
    answer: clockShape,
    run: ({ clock }) => shownClock(clock),
  }),
  route('PUT /clock', 'moveClock', 'Moves the clock, and posts the callbacks that become due.', {
    body: z
      .strictObject({
        advance: duration.optional().describe('How far: 5m, 1h.'),
        at: moment.optional().describe('The date: 2026-11-21T09:00:00Z, or milliseconds since 1970.'),
      })
      .refine(({ advance, at }) => (advance === undefined) !== (at === undefined), {
        error: 'advance and at both move the clock: pass one',
      }),
    answer: clockShape,
    errors: ['refused'],
    run: ({ clock }, { body: { advance, at } }) => {
      if (advance !== undefined) clock.advance(advance);
      if (at !== undefined) clock.set(at);
      return shownClock(clock);
    },
  }),
  route('GET /events', 'streamEvents', 'The latest events, and then each new one: one JSON value per line.', {
    query: z.strictObject({
      limit: whole(0, KEPT_LATEST).describe('How many of the past come first.'),
      follow: flagText.prefault('true').describe('Whether the stream continues with new ones.'),
    }),
    answer: {
      contentType: 'application/x-ndjson',
      description: 'A stream. While it follows, it does not end by itself.',
    },
    run: ({ log }, { query }) =>
      eventStream(log, {
        type: 'application/x-ndjson',
        hello: '\n',
        textOf: event => `${JSON.stringify(event)}\n`,
        ...query,
      }),
  }),
  route('POST /reset', 'reset', 'Forgets every payment, call, callback and fault, and sets the clock right.', {
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
