// The format of a scenario: a created payment, its later events, and the expected answers of the merchant's server.
import * as z from 'zod';
import { count, oneOf, text } from '../../option-reader.ts';
import { closedObject, each, type FieldsOf } from '../../schemas/fields-of.ts';
import { unknownNames } from '../../schemas/hints.ts';
import { PAYMENT_STATUSES, type PaymentStatus } from '../../schemas/methods.ts';
import { REQUEST_FIELDS } from '../../schemas/requests/schema.ts';
import type { RedeliverOptions } from '../callbacks/callbacks.ts';
import type { FaultOptions } from '../faults/faults.ts';
import { CREATE_FAULTS, type CreateFault, FAULTS, type Fault, isCreateFault, takesMs } from '../faults/kinds.ts';
import { type MoveName, moveFields } from '../ledger/moves.ts';
import type { CompleteOptions, FailureReason } from '../ledger/record.ts';
import { type Duration, writtenDuration } from '../text/duration.ts';

/**
 * The expected answer to a callback. `taken`: 2xx. `refused`: any other answer. `answered`: either. `not-believed`: not
 * 2xx, or 2xx only after a lookup of the payment. `lost`: never posted. A number: that HTTP status.
 */
export type Expectation = 'taken' | 'refused' | 'answered' | 'not-believed' | 'lost' | number;

/** The expected state at the end of a step or of the scenario. */
export interface Expected {
  /**
   * One expectation per posted callback, in order.
   * @default `taken`; `not-believed` for a forged one; `answered` where a fault met its lookup; `lost` for a lost one
   */
  callbacks?: readonly Expectation[] | undefined;
  paymentStatus?: PaymentStatus | undefined;
}

/** The create in the gateway's form, with any other field of a create. */
export interface ScenarioCreate {
  paymentType: 'DEPOSIT' | 'WITHDRAWAL';
  paymentMethod: string;
  amount: number;
  currency: string;
  /** @default another one each time */
  reference?: string | undefined;
  [field: string]: unknown;
}

/** Arms a fault for callbacks or lookups of this payment only. */
export interface FaultStep extends Pick<FaultOptions, 'ms' | 'count'> {
  fault: Exclude<Fault, CreateFault>;
}

/** Moves the payment to another state. `amount` is for `complete`, `code` and `reason` are for `fail`. */
export interface MoveStep extends CompleteOptions, FailureReason {
  move: MoveName;
  expect?: Expected | undefined;
}

/** Moves the sandbox's clock forward, and posts the callbacks that become due. */
export interface AdvanceStep {
  advance: Duration;
  expect?: Expected | undefined;
}

/** Posts a callback again. 1 is the first callback of the payment. */
export interface RedeliverStep extends RedeliverOptions {
  redeliver: number;
  expect?: Expected | undefined;
}

export type Step = FaultStep | MoveStep | AdvanceStep | RedeliverStep;

/** A sequence of events of one payment, to play at a merchant's callback address. */
export interface Scenario {
  /** One sentence about the scenario. */
  does?: string | undefined;
  create: ScenarioCreate;
  /** The fault of the create. */
  createFault?: CreateFault | undefined;
  /** The later events, in order. */
  steps?: readonly Step[] | undefined;
  expect?: Expected | undefined;
}

const nameOf = <T extends object>(what: string, table: T) => {
  const names = Object.keys(table) as (keyof T & string)[];
  return z.enum(names, {
    error: ({ input }) =>
      typeof input === 'string' ? `is an ${unknownNames(what, [input], names)}` : `must be one of ${names.join(', ')}`,
  });
};

const expectation = z.union(
  [z.enum(['taken', 'refused', 'answered', 'not-believed', 'lost']), z.int().min(100).max(599)],
  { error: 'must be taken, refused, answered, not-believed, lost, or an HTTP status' },
);

const fields = <S extends z.ZodRawShape>(shape: S, shown = Object.keys(shape)) =>
  closedObject('field', shape, `must be an object with the fields ${shown.join(', ')}`);

const expect = fields({
  callbacks: z.array(expectation, { error: 'must be a list, such as [taken]' }).optional(),
  paymentStatus: oneOf(PAYMENT_STATUSES).optional(),
}).optional();

const neededFields = {
  paymentType: oneOf(['DEPOSIT', 'WITHDRAWAL']),
  paymentMethod: z.string({ error: 'must be a method of the gateway, such as CARD' }),
  amount: z.number({ error: 'must be a number' }),
  currency: text,
};

/** The gateway checks the other fields. */
const create = fields(
  {
    ...each(REQUEST_FIELDS, z.unknown().optional()),
    ...neededFields,
    reference: text.min(1, { error: 'must not be empty: leave it out for another one each time' }).optional(),
  },
  Object.keys(neededFields),
);

const ACTIONS = ['fault', 'move', 'advance', 'redeliver'] as const;

/** The kinds that a step may be meant as. A valid step has one. */
export const actionsIn = (step: object) => ACTIONS.filter(action => action in step);

const stepFields = {
  fault: nameOf('fault', FAULTS).optional(),
  ms: writtenDuration.optional(),
  count: count.optional(),
  move: nameOf('move', moveFields).optional(),
  ...moveFields.complete,
  ...moveFields.fail,
  advance: writtenDuration.optional(),
  redeliver: count.optional(),
  body: text.optional(),
  expect,
};

/** Describes fields that do not belong together. */
function misfit(step: z.output<z.ZodObject<typeof stepFields>>): string | undefined {
  const { fault = 'drop', move = 'complete' } = step;
  const [action, ...others] = actionsIn(step);
  if (!action || others.length > 0) return `must have one of ${ACTIONS.join(', ')}, and only one`;
  if (isCreateFault(fault)) return `${fault} is injected into the create: write it as createFault`;
  const taken = {
    fault: takesMs(fault) ? ['ms', 'count'] : ['count'],
    move: [...Object.keys(moveFields[move]), 'expect'],
    advance: ['expect'],
    redeliver: ['body', 'expect'],
  }[action];
  const wrong = Object.keys(step).find(name => name !== action && !taken.includes(name));
  return wrong && `${wrong} is not for "${action}: ${step[action]}", which takes ${taken.join(', ')}`;
}

const step = fields(stepFields).refine(one => !misfit(one), { error: ({ input }) => misfit(input as never) });

export const scenarioSchema: z.ZodType<Scenario> = fields({
  does: text.optional(),
  create,
  createFault: nameOf('fault of creates', CREATE_FAULTS).optional(),
  steps: z.array(step as z.ZodType<Step>, { error: 'must be a list of steps' }).optional(),
  expect,
} satisfies FieldsOf<Scenario>).meta({
  id: 'Scenario',
  description: 'A story of one payment, to play at a callback address.',
});
