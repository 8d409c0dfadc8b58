// The sandbox's API: the routes of the gateway's document, each a Request in and a Response out.
import { Hono } from 'hono/tiny';
import * as z from 'zod';
import { unknownFields } from '../schemas/hints.ts';
import { strict } from '../schemas/objects.ts';
import {
  createPaymentSchema,
  isRequestField,
  nftPurchaseSchema,
  onrampTerminalPaymentSchema,
} from '../schemas/request.ts';
import { connectionBroke, cutInHalf, type Faults } from './faults.ts';
import type { AcceptedRequest, Ledger, PaymentRecord } from './ledger.ts';
import { toPhpJson } from './php.ts';
import { signatureProblem } from './signature.ts';

const terminalFields = {
  /** The bearer credential that calls must carry. */
  apiKey: z.string().min(1).default('sandbox-api-key'),
  /** The key that creates must be signed with. */
  signKey: z.string().min(1).default('sandbox-sign-key'),
  /** How the signature of a create must be written. */
  signatureEncoding: z.enum(['hex', 'base64']).default('hex'),
  /** Which methods deposits may use. */
  terminal: z.enum(['standard', 'onramp']).default('standard'),
  /** How a PayID deposit is paid: by transfer instructions in the answer, or on a hosted page. */
  payid: z.enum(['host-to-host', 'redirect']).default('host-to-host'),
  /**
   * Whether answers stand in `result`, or alone as in an earlier variant of the interface: that one had neither a
   * `redirectUrl` nor transfer instructions.
   */
  shape: z.enum(['wrapped', 'unwrapped']).default('wrapped'),
};

/** What a terminal of the sandbox is like. */
export const terminalSchema = strict(terminalFields, {
  error: issue =>
    issue.code === 'unrecognized_keys'
      ? unknownFields(issue.keys, [...Object.keys(terminalFields), 'fetch', 'now'])
      : 'must be an object of options',
});

export type TerminalOptions = z.output<typeof terminalSchema>;

export function createGateway(options: TerminalOptions, ledger: Ledger, faults: Faults) {
  const app = new Hono();

  app.post('/api/v1/payments', async ({ req }) => {
    const body = new Uint8Array(await req.arrayBuffer());
    const fault = faults.take();
    if (fault === 'drop') throw connectionBroke();
    const problem =
      credentialProblem(req.raw.headers, options.apiKey) ??
      signatureProblem(req.raw.headers.get('signature'), body, options.signKey, options.signatureEncoding);
    if (problem) return answer({ message: problem }, 401);
    const checked = validate(body, options.terminal);
    if ('errors' in checked) return answer({ message: 'The given data was invalid.', ...checked }, 422);

    const record = ledger.create(checked.request);
    const created = createdAnswer(record, options, new URL(req.url).origin);
    if (fault === 'commit-then-drop') throw connectionBroke();
    if (fault === 'commit-then-cut') return cutInHalf(toPhpJson(created), HEADERS);
    return answer(created, 201);
  });

  app.get('/api/v1/payments/:id', ({ req }) => {
    const problem = credentialProblem(req.raw.headers, options.apiKey);
    if (problem) return answer({ message: problem }, 401);
    const record = ledger.find(req.param('id'));
    if (!record) return answer({ message: 'Payment not found.' }, 404);
    return answer(options.shape === 'wrapped' ? { result: record } : record, 200);
  });

  app.notFound(() => answer({ message: 'Not found.' }, 404));
  app.onError(error => {
    throw error;
  });
  return app;
}

const HEADERS = { 'content-type': 'application/json' };

const answer = (value: unknown, status: number) =>
  new Response(toPhpJson(value), { status, headers: { ...HEADERS, 'x-request-id': crypto.randomUUID() } });

function credentialProblem(headers: Headers, apiKey: string): string | undefined {
  const given = headers.get('authorization');
  if (given === null) return 'The Authorization header is missing: send "Bearer <API key>".';
  if (!given.startsWith('Bearer ')) return 'The Authorization header must start with "Bearer ".';
  return given === `Bearer ${apiKey}` ? undefined : 'The API key is not that of this terminal.';
}

type Validated = { request: AcceptedRequest } | { errors: Record<string, string[]> };

/** The checks of the document. Fields that the gateway does not know are ignored. */
function validate(body: Uint8Array, terminal: TerminalOptions['terminal']): Validated {
  let json: Record<string, unknown>;
  try {
    json = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(body));
  } catch {
    return { errors: { body: ['The body is not JSON.'] } };
  }
  const known = Object.fromEntries(Object.entries(json ?? {}).filter(([name]) => isRequestField(name)));
  const { amount } = known;
  if (typeof amount !== 'number') return { errors: { amount: ['The amount must be a number.'] } };
  const payments = terminal === 'onramp' ? onrampTerminalPaymentSchema : createPaymentSchema;
  const schema = known.paymentMethod === 'OPENBANKING' ? nftPurchaseSchema : payments;
  // On the wire any positive number is an amount; the schema's stricter rules are for the merchant's arithmetic.
  const { success, data, error } = schema.safeParse({ ...known, amount: amount > 0 ? 1 : amount });
  if (success) return { request: { ...data, amount } };
  const errors: Record<string, string[]> = {};
  for (const { path, message } of error.issues) {
    const field = path.join('.') || 'body';
    errors[field] = [...(errors[field] ?? []), message];
  }
  return { errors };
}

/** A create's answer: the record, and how the customer pays. */
function createdAnswer(record: PaymentRecord, { payid, shape }: TerminalOptions, origin: string): object {
  if (shape === 'unwrapped') return record;
  if (record.paymentType === 'WITHDRAWAL') return { result: record };
  if (record.paymentMethod === 'PAYID' && payid === 'host-to-host') {
    return { result: record, ...transferOf(record) };
  }
  return { result: { ...record, redirectUrl: `${origin}/pay/${record.id}` } };
}

const transferOf = ({ id, amount, currency }: PaymentRecord) => ({
  number: `pay-${id.slice(0, 8)}@sandbox.example`,
  full_holder_name: 'Sandbox Payments Pty Ltd',
  payment_description: id.slice(0, 8).toUpperCase(),
  amount: amount.toFixed(2),
  currency,
  uuid: crypto.randomUUID(),
  order_id: id,
});
