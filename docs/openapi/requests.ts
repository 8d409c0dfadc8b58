// What a create is sent: one schema for each method of each payment type.
import * as z from 'zod';
import { isDepositMethod, isOnrampMethod, type PaymentType } from '../../src/schemas/methods.ts';
import { nftPurchaseSchema, SCHEMAS, withdrawalSchema } from '../../src/schemas/requests/schema.ts';
import { commentOnMember } from './comments.ts';
import { type Component, componentOf, objectsOf, render } from './component.ts';
import { type JsonSchema, refTo } from './wire.ts';

/** How some methods are spelled in words. */
const WORDS: Record<string, string> = {
  APPLEPAY: 'Apple Pay',
  GOOGLEPAY: 'Google Pay',
  OPENBANKING: 'Open Banking',
  GBPBANKTRANSFER: 'GBP Bank Transfer',
  PAYID: 'PayID',
  ONRAMP: 'Onramp',
  USER_CHOICE: 'Onramp User Choice',
};

/** `ONRAMP_APPLEPAY` is `Onramp Apple Pay`. */
function wordsOf(method: string): string {
  const [, pinned] = /^ONRAMP_(.+)/.exec(method) ?? [];
  return pinned ? `Onramp ${wordsOf(pinned)}` : (WORDS[method] ?? method);
}

/** `Onramp PIX Deposit` is `OnrampPixDeposit`. */
const nameOf = (title: string): string =>
  title.replace(/([A-Z])([A-Z]+)/g, (_, first, rest) => first + rest.toLowerCase()).replaceAll(' ', '');

/** What a request by a method creates, and what is particular about it. */
function kindOf(paymentType: string, method: string): [kind: string, description: string] {
  if (paymentType === 'WITHDRAWAL') return ['Withdrawal', `The merchant pays by ${wordsOf(method)}.`];
  if (method === 'USER_CHOICE')
    return ['Deposit', `${ONRAMP_ONLY} The customer chooses the method in the hosted widget.`];
  if (isOnrampMethod(method)) return ['Deposit', `${ONRAMP_ONLY} The hosted widget is pinned to one method.`];
  if (isDepositMethod(method)) return ['Deposit', `The customer pays by ${wordsOf(method)}.`];
  return [
    'NFT Purchase',
    "That an NFT purchase is a deposit is an assumption: the gateway's document does not say it.",
  ];
}

const ONRAMP_ONLY = 'Only on terminals that are configured for on-ramp.';

const { paymentType: _type, paymentMethod: _method, ...common } = componentOf('', withdrawalSchema).schema.shape;

/** The requests of one object of the SDK, which takes several methods. */
function requestsOf({ shape }: z.ZodObject): Component[] {
  const own = Object.entries(shape).filter(([name, field]) => common[name] !== field);
  const [paymentType] = valuesOf(shape.paymentType);
  return valuesOf(shape.paymentMethod).map(method => {
    const [kind, description] = kindOf(paymentType ?? '', method);
    const title = `${wordsOf(method)} ${kind}`;
    const name = nameOf(title);
    return {
      name,
      schema: z.looseObject({ ...Object.fromEntries(own), paymentMethod: z.literal(method) }),
      bases: ['RequestFields', 'CallbackAddress'],
      title,
      description,
      comments: 'ApplePayDeposit',
    };
  });
}

const valuesOf = (field: z.core.$ZodType | undefined): string[] => [...(field?._zod.values ?? [])].map(String);

const requests = new Map(
  [SCHEMAS.onramp.payment, nftPurchaseSchema]
    .flatMap(objectsOf)
    .flatMap(requestsOf)
    .map(request => [request.name, request]),
);

/** The requests of one type, told apart by their method. */
function byMethod(type: PaymentType, title: string, description: string): JsonSchema {
  const choices = [...requests.values()].filter(({ schema }) => valuesOf(schema.shape.paymentType).includes(type));
  const mapping = choices.map(({ name, schema }) => [valuesOf(schema.shape.paymentMethod).join(), refTo(name).$ref]);
  return {
    title,
    description,
    oneOf: choices.map(({ name }) => refTo(name)),
    discriminator: { propertyName: 'paymentMethod', mapping: Object.fromEntries(mapping) },
  };
}

/** A refinement of every request, which zod cannot say. */
const callbackAddress: JsonSchema = {
  title: 'Callback Address',
  description: 'At least one of the two is a URL.',
  anyOf: ['webhookUrl', 'callbackUrl'].map(name => ({
    type: 'object',
    required: [name],
    properties: { [name]: { description: commentOnMember('RequestFields', name), type: 'string' } },
  })),
};

/** The components of a create's body. */
export const REQUESTS: Record<string, JsonSchema> = {
  PaymentRequest: {
    title: 'Payment Request',
    description:
      "Told apart by `paymentType`, and then by `paymentMethod`. The gateway's document does not say what becomes of fields that it does not name: this description allows them.",
    oneOf: [refTo('Deposit'), refTo('Withdrawal')],
  },
  Deposit: byMethod(
    'DEPOSIT',
    'Deposit',
    'The customer pays. NFT purchases accept only `APPLEPAY`, `GOOGLEPAY`, `OPENBANKING` and `CARD`.',
  ),
  Withdrawal: byMethod('WITHDRAWAL', 'Withdrawal', 'The merchant pays the customer.'),
  CallbackAddress: callbackAddress,
  ...render([
    { name: 'RequestFields', schema: z.looseObject(common) },
    ...requests.values(),
    componentOf('CustomerRequest', common.customer),
    componentOf('BillingAddressRequest', common.billingAddress),
    componentOf('ApplePayBillingAddress', requests.get('ApplePayDeposit')?.schema.shape.billingAddress),
  ]),
};
