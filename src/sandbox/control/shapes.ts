// The shapes of what the sandbox's own API answers, for its description.
import * as z from 'zod';
import { PAYMENT_STATUSES } from '../../schemas/methods.ts';
import { CALLBACK_FAULTS, FAULTS, type Fault } from '../faults/kinds.ts';

const names = <T extends string>(table: Readonly<Record<T, unknown>>) => Object.keys(table) as [T, ...T[]];

const at = z.number().describe("Milliseconds since 1970, by the sandbox's clock.");
const fault = z.enum(names(FAULTS)).optional().describe('The fault that was injected.');
const status = z.number().int();
const headers = z.array(z.tuple([z.string(), z.string()]));

export const paymentStatus = z.enum(PAYMENT_STATUSES);
export const faultName = z.enum(names(FAULTS) as [Fault, ...Fault[]]);

export const paymentShape = z
  .looseObject({
    id: z.guid(),
    paymentStatus,
    created: z.object({ date: z.string(), timezone_type: z.number().int(), timezone: z.string() }),
    paymentType: z.enum(['DEPOSIT', 'WITHDRAWAL']),
    paymentMethod: z.string(),
    reference: z.string().nullable(),
    description: z.string().nullable(),
    amount: z.number(),
    currency: z.string(),
    errorMessage: z.string().optional(),
  })
  .meta({ id: 'Payment', description: 'The record of a payment, as a lookup shows it.' });

export const deliveryShape = z
  .object({
    id: z.number().int(),
    at,
    paymentId: z.guid(),
    paymentStatus: z.string(),
    url: z.string(),
    body: z.string().describe('The JSON that was posted.'),
    status: status
      .optional()
      .describe("The merchant's HTTP status; absent while it is under way, and without an answer."),
    answer: z.string().optional().describe("The merchant's body, up to 4,096 letters."),
    error: z.string().optional().describe('Why there was no answer.'),
    durationMs: z.number().optional(),
    fault: z.enum(names(CALLBACK_FAULTS)).optional(),
    repeats: z.number().int().optional().describe('The delivery that it repeats.'),
    isEdited: z.boolean().optional().describe('Whether its body was changed by hand.'),
  })
  .meta({ id: 'Delivery', description: 'One post of one callback.' });

export const callShape = z
  .object({
    id: z.number().int(),
    at,
    method: z.string(),
    path: z.string(),
    headers: headers.describe('As they arrived; credentials are masked.'),
    body: z.string().describe('As text.'),
    bodyBase64: z.string().describe('The exact bytes, up to 64 KiB.'),
    bodyLength: z.number().int(),
    answer: z
      .object({ status, headers, body: z.string(), isCut: z.boolean() })
      .optional()
      .describe('Absent while the call is under way, and where the connection was broken.'),
    message: z.string().optional().describe('Why it was refused.'),
    durationMs: z.number().optional(),
    fault,
    paymentId: z.guid().optional(),
    hasRightKey: z
      .boolean()
      .optional()
      .describe('Whether it carried the API key of this terminal; absent for an address that there is not.'),
    isPlayed: z.boolean().optional().describe('Made by a scenario, and not by the merchant.'),
    signature: z
      .object({
        given: z.string().optional(),
        expected: z.object({ hex: z.string(), base64: z.string() }),
        encoding: z.enum(['hex', 'base64']),
        problem: z.string().optional(),
      })
      .optional()
      .describe('Of a create: what came, what should have come, and what is wrong.'),
  })
  .meta({ id: 'Call', description: 'A call of the gateway: what arrived, and what was answered.' });

export const faultShape = z
  .object({
    id: z.number().int(),
    fault: faultName,
    on: z.enum(['create', 'lookup', 'callback']),
    ms: z.number().optional(),
    count: z.number().int().describe('How often it will still be injected.'),
    probability: z.number().optional(),
    reference: z.string().optional(),
  })
  .meta({ id: 'ArmedFault', description: 'A fault that waits.' });

export const eventShape = z
  .looseObject({
    type: z.enum(['request', 'move', 'callback-waits', 'callback', 'fault', 'clock', 'scenario', 'reset']),
    at,
    paymentId: z.guid().optional(),
  })
  .meta({ id: 'Event', description: 'Something that happened.' });

export const clockShape = z
  .object({ now: z.number(), iso: z.string(), offset: z.number().describe('Milliseconds that it was moved.') })
  .meta({ id: 'Clock' });

export const problemShape = z
  .object({ code: z.string().describe('Stable and for machines.'), message: z.string() })
  .meta({ id: 'Problem', description: 'Why something was refused, and what to do.' });
