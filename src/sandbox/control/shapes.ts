// The schemas of the sandbox's own API answers, for its description.
import * as z from 'zod';
import { PAYMENT_STATUSES } from '../../schemas/methods.ts';
import { CALLBACK_FAULTS, FAULTS, type Fault } from '../faults/kinds.ts';

const names = <T extends string>(table: Readonly<Record<T, unknown>>) => Object.keys(table) as [T, ...T[]];

const at = z.number().describe("Milliseconds since 1970, by the sandbox's clock.");
const fault = z.enum(names(FAULTS)).optional().describe('The fault that was injected.');
const status = z.number().int().describe('HTTP.');
const texts = z.array(z.string());
const flag = z.boolean().optional();
const code = z.string().describe('In this language.');
const headers = z.array(z.tuple([z.string(), z.string()]));

export const paymentStatus = z.enum(PAYMENT_STATUSES);
export const faultName = z.enum(names(FAULTS) as [Fault, ...Fault[]]).describe('Its name.');

export const paymentShape = z
  .looseObject({
    id: z.guid().describe("The payment's id."),
    paymentStatus: paymentStatus.describe('Its state.'),
    created: z
      .object({
        date: z.string().describe('Such as 2026-11-22 09:00:00.000000.'),
        timezone_type: z.number().int().describe('1 an offset, 2 an abbreviation, 3 a zone.'),
        timezone: z.string().describe('The offset, abbreviation or zone.'),
      })
      .describe("A PHP DateTime: when it was created, by the sandbox's clock."),
    paymentType: z.enum(['DEPOSIT', 'WITHDRAWAL']).describe('Whether the customer pays, or is paid.'),
    paymentMethod: z.string().describe('How the money moves.'),
    reference: z.string().nullable().describe("The merchant's own id."),
    description: z.string().nullable().describe('A text of the merchant.'),
    amount: z.number().describe('In units of the currency.'),
    currency: z.string().describe('Of the amount.'),
    errorMessage: z.string().optional().describe('Why it failed, for people.'),
  })
  .meta({ id: 'Payment', description: 'The record of a payment, as a lookup shows it.' });

export const deliveryShape = z
  .object({
    id: z.number().int().describe('Counts from 1, in order of posting.'),
    at,
    paymentId: z.guid().describe('Whose callback it is.'),
    paymentStatus: z.string().describe('The state in it.'),
    url: z.string().describe('Where it was posted.'),
    body: z.string().describe('The JSON that was posted.'),
    status: status.optional().describe("The merchant's HTTP status; absent while it runs, and without an answer."),
    answer: z.string().optional().describe("The merchant's body, up to 4,096 letters."),
    error: z.string().optional().describe('Why there was no answer.'),
    durationMs: z.number().optional().describe('Until the answer.'),
    fault: z.enum(names(CALLBACK_FAULTS)).optional().describe('The fault that was injected.'),
    repeats: z.number().int().optional().describe('The delivery that it repeats.'),
    isEdited: flag.describe('Whether its body was changed by hand.'),
  })
  .meta({ id: 'Delivery', description: 'One post of one callback.' });

export const callShape = z
  .object({
    id: z.number().int().describe('Counts from 1, in order of arrival.'),
    at,
    method: z.string().describe('HTTP.'),
    path: z.string().describe('With its query.'),
    headers: headers.describe('As they arrived; credentials are masked.'),
    body: z.string().describe('As text.'),
    bodyBase64: z.string().describe('The exact bytes, up to 64 KiB.'),
    bodyLength: z.number().int().describe('In bytes.'),
    answer: z
      .object({
        status,
        headers: headers.describe('As they were sent.'),
        body: z.string().describe('As text.'),
        isCut: z.boolean().describe('Whether the connection broke in the middle of it.'),
      })
      .optional()
      .describe('Absent while the call runs, and if the connection broke.'),
    message: z.string().optional().describe('Why it was refused.'),
    warnings: texts.optional().describe('The problems of an accepted create that a processor would probably refuse.'),
    durationMs: z.number().optional().describe('Absent while it runs.'),
    fault,
    paymentId: z.guid().optional().describe('The payment that it made or read.'),
    isPlayed: flag.describe('Made by a scenario, and not by the merchant.'),
    signature: z
      .object({
        given: z.string().optional().describe('The Signature header.'),
        expected: z
          .object({ hex: z.string().describe('In hex.'), base64: z.string().describe('In base64.') })
          .describe('The HMAC-SHA256 of the exact bytes.'),
        encoding: z.enum(['hex', 'base64']).describe('What this terminal takes.'),
        problem: z.string().optional().describe('What is wrong with it.'),
        correction: z
          .object({ php: code, python: code, node: code, curl: code })
          .optional()
          .describe('The code that corrects it: one line for a known mistake, otherwise all that sign.'),
      })
      .optional()
      .describe('Of a create: what came, what should have come, and what is wrong.'),
  })
  .meta({ id: 'Call', description: 'A call of the gateway: what arrived, and what was answered.' });

export const faultShape = z
  .object({
    id: z.number().int().describe('Counts from 1, in order of arming.'),
    fault: faultName,
    on: z.enum(['create', 'lookup', 'callback']).describe('What it is injected into.'),
    ms: z.number().optional().describe('Milliseconds.'),
    count: z.number().int().describe('How often it will still be injected.'),
    probability: z.number().optional().describe('The probability that it is injected. Absent: always.'),
    reference: z.string().optional().describe('Only payments with it meet the fault.'),
  })
  .meta({ id: 'ArmedFault', description: 'An armed fault.' });

export const eventShape = z
  .looseObject({
    type: z
      .enum(['request', 'move', 'callback-waits', 'callback', 'fault', 'clock', 'scenario', 'reset'])
      .describe('What it was.'),
    at,
    paymentId: z.guid().optional().describe('The payment that it is about.'),
  })
  .meta({ id: 'Event', description: 'Something that happened.' });

export const clockShape = z
  .object({
    now: z.number().describe('Milliseconds since 1970.'),
    iso: z.string().describe('The same as a date, in UTC.'),
    offset: z.number().describe('Milliseconds that it was moved.'),
  })
  .meta({ id: 'Clock' });

export const problemShape = z
  .object({
    code: z.string().describe('Stable and for machines.'),
    message: z.string().describe('For people: what to do.'),
  })
  .meta({ id: 'Problem', description: 'Why something was refused, and what to do.' });
