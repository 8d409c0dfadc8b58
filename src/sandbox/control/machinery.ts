// The routes for calls, faults, the clock and events.
import * as z from 'zod';
import type { Clock } from '../clock.ts';
import { faultFields } from '../faults/faults.ts';
import { FAULTS, type Fault } from '../faults/kinds.ts';
import { eventStream } from '../log/event-stream.ts';
import type { Call } from '../log/events.ts';
import { duration } from '../text/duration.ts';
import { environmentOf } from '../text/environment.ts';
import { route } from './define.ts';
import { flagText, listQuery, pageOf, whole } from './payments.ts';

const DATE = { error: 'must be a date such as 2026-11-21T09:00:00Z' };
const moment = z
  .union([z.number().min(0), z.string().transform(Date.parse).pipe(z.number())], DATE)
  .meta({ title: 'date' });

export const MACHINERY_ROUTES = [
  route('GET /calls', 'listCalls', 'The latest calls of the gateway, refused ones too, the newest first.', {
    fields: listQuery,
    run: ({ log }, query) => {
      const [calls, total] = pageOf(log.calls, query);
      return { calls: calls.map(shownCall), total };
    },
  }),
  route('GET /calls/:id', 'getCall', 'One call: its headers, its exact bytes, its signature, its answer.', {
    run: ({ log }, _, { id }) => shownCall(log.call(Number(id))),
  }),
  route('GET /faults', 'listFaults', 'The faults that are armed, in the order in which they will be injected.', {
    run: ({ faults }) => ({ faults: faults.armed }),
  }),
  route('POST /faults', 'armFault', 'Arms a fault.', {
    fields: z.strictObject({ fault: z.enum(Object.keys(FAULTS) as Fault[]).describe('Its name.'), ...faultFields }),
    run: ({ faults }, { fault, ...options }) => faults.next(fault, options),
  }),
  route('DELETE /faults', 'disarmFaults', 'Disarms every fault.', { run: ({ faults }) => faults.clear() }),
  route('DELETE /faults/:id', 'disarmFault', 'Disarms one fault.', {
    run: ({ faults }, _, { id }) => faults.disarm(Number(id)),
  }),
  route('GET /info', 'getInfo', 'How a client is set up for this sandbox.', {
    run: ({ settings: { apiKey, signKey, signatureEncoding, terminal } }, _, { origin: baseUrl }) => ({
      /** The address of the sandbox. */
      baseUrl,
      ...{ apiKey, signKey, signatureEncoding, terminal },
      /** Lines for the .env of an app. */
      environment: environmentOf(baseUrl, { apiKey, signKey }),
    }),
  }),
  route('GET /clock', 'getClock', "The sandbox's clock.", { run: ({ clock }) => shownClock(clock) }),
  route('PUT /clock', 'moveClock', 'Moves the clock, and posts the callbacks that become due.', {
    fields: z
      .strictObject({
        advance: duration.optional().describe('How far: 5m, 1h.'),
        at: moment.optional().describe('The date: 2026-11-21T09:00:00Z, or milliseconds since 1970.'),
      })
      .refine(({ advance, at }) => (advance === undefined) !== (at === undefined), {
        error: 'advance and at both move the clock: pass one',
      }),
    run: ({ clock }, { advance, at }) => {
      if (advance !== undefined) clock.advance(advance);
      if (at !== undefined) clock.set(at);
      return shownClock(clock);
    },
  }),
  route('GET /events', 'streamEvents', 'The latest events, and then each new one: one JSON value per line.', {
    fields: z.strictObject({
      limit: whole.max(1_000).default(0).describe('How many of the past come first.'),
      follow: flagText.prefault('true').describe('Whether the stream continues with new ones.'),
    }),
    run: ({ log }, query) => eventStream(log, 'application/x-ndjson', event => `${JSON.stringify(event)}\n`, query),
  }),
  route('POST /reset', 'reset', 'Forgets every payment, call, callback and fault, and sets the clock right.', {
    run: ({ reset }) => reset(),
  }),
];

/** A call of the gateway, with its body as text. */
interface ShownCall extends Omit<Call, 'body'> {
  body: string;
  /** The exact bytes, up to 64 KiB. */
  bodyBase64: string;
}

const shownCall = ({ body, ...call }: Call): ShownCall => ({
  ...call,
  body: new TextDecoder().decode(body),
  bodyBase64: Buffer.from(body).toString('base64'),
});

interface ShownClock {
  /** Milliseconds since 1970. */
  now: number;
  /** The same as a date, in UTC. */
  iso: string;
  /** How far it was moved, in milliseconds. */
  offset: number;
}

function shownClock(clock: Clock): ShownClock {
  const now = clock.now();
  return { now, iso: new Date(now).toISOString(), offset: clock.offset };
}
