// The sandbox's API: the documented routes of the gateway, each from a Request to a Response.
import { isUtf8 } from 'node:buffer';
import type { Hono } from 'hono/tiny';
import { delay, withSignal } from '../../deadline.ts';
import { parseJson } from '../../schemas/json.ts';
import { isDepositMethod, isNftMethod } from '../../schemas/methods.ts';
import { REQUEST_FIELDS, SCHEMAS } from '../../schemas/requests/schema.ts';
import { type Answer, answering, refusing, toResponse } from '../answer.ts';
import { EFFECTS, type Effect } from '../faults/inject.ts';
import { move } from '../ledger/moves.ts';
import type { AcceptedRequest, PaymentRecord } from '../ledger/record.ts';
import { transferOf } from '../ledger/transfer.ts';
import type { Call } from '../log/events.ts';
import type { Parts } from '../parts.ts';
import type { SandboxSettings } from '../sandbox-options.ts';
import { checkSignature } from './signature.ts';
import { warningsOf } from './warnings.ts';

export function addApi(app: Hono, parts: Parts): void {
  app.post('/api/v1/payments', async ({ req }) => toResponse(await answerCall(parts, req.raw)));
  app.get('/api/v1/payments/:id', async ({ req }) => toResponse(await answerCall(parts, req.raw, req.param('id'))));

  // The log also shows calls to a wrong address.
  const refuse = (path: string, refused: Answer) =>
    app.all(path, async ({ req }) => {
      const { end } = parts.log.begin(req.raw, await req.raw.bytes());
      end({ ...refused, message: ADDRESSES });
      return toResponse(refused);
    });
  refuse('/api/v1/payments', refusing(405, 'Method not allowed.', {}, { allow: 'POST' }));
  refuse('/api/v1/payments/:id', refusing(405, 'Method not allowed.', {}, { allow: 'GET, HEAD' }));
  refuse('/api/*', refusing(404, 'Not found.'));
}

/**
 * Logs a call and answers it. An armed fault may keep the call from the gateway or change the answer.
 *
 * @param id the payment to look up. Without one, the call is a create
 * @param isPlayed whether a scenario sends it. Then only faults armed for its reference apply
 */
export async function answerCall(parts: Parts, request: Request, id?: string, isPlayed = false): Promise<Answer> {
  const { settings, ledger, callbacks, faults, log } = parts;
  const body = await request.bytes();
  const { call, end } = log.begin(request, body, isPlayed);
  const signal = AbortSignal.any([request.signal, log.life.signal]);
  const json = isUtf8(body) ? parseJson(new TextDecoder().decode(body))?.value : undefined;
  const on = id === undefined ? 'create' : 'lookup';
  const known = ledger.find(id ?? '');
  let armed = faults.take(on, known?.reference ?? Object(json).reference, isPlayed);
  call.paymentId = known?.id;
  let answer: Answer | undefined;
  try {
    if (settings.latency > 0) await withSignal(delay(settings.latency, signal), signal);
    const effect = armed && EFFECTS[armed.fault];
    answer = effect?.before?.();
    if (answer) return answer;
    if (on === 'create') call.signature = checkSignature(request.headers.get('signature'), body, settings);
    const problem = credentialProblem(request.headers, settings.apiKey) ?? call.signature?.problem;
    const take = () => (id === undefined ? create(parts, request, call, json, effect) : lookUp(parts, id));
    const taken = problem ? refusing(401, problem) : take();
    call.paymentId ??= taken.paymentId;
    // A call that the gateway itself refuses does not use up the fault.
    if (armed && taken.message) {
      armed.count += 1;
      armed = undefined;
    }
    if (armed?.fault === 'callback-first' && taken.paymentId) {
      move(parts, taken.paymentId, 'complete');
      await withSignal(callbacks.delivered(taken.paymentId), signal);
    }
    answer = (armed && (await effect?.after?.(taken, signal, armed.ms))) ?? taken;
    return answer;
  } finally {
    call.fault = armed?.fault;
    end(answer);
  }
}

function create({ settings, ledger }: Parts, { url }: Request, call: Call, json: unknown, effect?: Effect): Answer {
  const accepted = validate(json, settings);
  if ('status' in accepted) return accepted;
  const warnings = warningsOf(accepted, Object(json));
  if (warnings.length > 0) call.warnings = warnings;
  const record = ledger.create(accepted, effect?.record?.(accepted), call.isPlayed);
  return answering(createdAnswer(record, settings, url), 201, record.id);
}

function lookUp({ settings, ledger }: Parts, id: string): Answer {
  const record = ledger.find(id);
  if (!record) return refusing(404, 'Payment not found.');
  return answering(settings.shape === 'wrapped' ? { result: record } : record, 200, record.id);
}

const ADDRESSES =
  'There is no such address. The gateway has POST /api/v1/payments and GET /api/v1/payments/{id}, and nothing else.';

function credentialProblem(headers: Headers, apiKey: string): string | undefined {
  const given = headers.get('authorization');
  if (given === null) return 'The Authorization header is missing: send "Bearer <API key>".';
  if (!given.startsWith('Bearer ')) return 'The Authorization header must start with "Bearer ".';
  return given === `Bearer ${apiKey}` ? undefined : 'The API key is not that of this terminal.';
}

/** Its message for the log also names the fields. */
function invalid(errors: Record<string, string[]>): Answer {
  const list = Object.entries(errors).map(([field, problems]) => `${field}: ${problems.join(', ')}`);
  const answer = refusing(422, 'The given data was invalid.', { errors });
  return { ...answer, message: `${answer.message} ${list.join('; ')}` };
}

/** Checks a create as the document says, without unknown fields. @returns a refusal if it fails */
function validate(json: unknown, { terminal }: SandboxSettings): AcceptedRequest | Answer {
  if (json === undefined) return invalid({ body: ['The body is not JSON.'] });
  const known = Object.fromEntries(Object.entries(json ?? {}).filter(([name]) => REQUEST_FIELDS.includes(name)));
  const { amount, paymentMethod } = known;
  if (!Number.isFinite(amount)) return invalid({ amount: ['The amount must be a number.'] });
  const isOnlyForNfts = isNftMethod(paymentMethod) && !isDepositMethod(paymentMethod);
  const schema = SCHEMAS[terminal][isOnlyForNfts ? 'nftPurchase' : 'payment'];
  // On the wire any positive number is an amount. The schema is stricter, for the merchant's arithmetic.
  const { success, data, error } = schema.safeParse({ ...known, amount: amount > 0 ? 1 : amount });
  if (success) return { ...data, amount };
  const errors: Record<string, string[]> = {};
  for (const { path, message } of error.issues) {
    const field = path.join('.') || 'body';
    errors[field] = [...(errors[field] ?? []), message];
  }
  return invalid(errors);
}

function createdAnswer(record: PaymentRecord, { payid, shape, publicUrl }: SandboxSettings, url: string): object {
  if (shape === 'unwrapped') return record;
  if (record.paymentType === 'WITHDRAWAL') return { result: record };
  if (record.paymentMethod === 'PAYID' && payid === 'host-to-host') return { result: record, ...transferOf(record) };
  return { result: { ...record, redirectUrl: new URL(`/pay/${record.id}`, publicUrl ?? url).href } };
}
