// Sends a signed create to the sandbox, as a merchant would.
import { createHmac } from 'node:crypto';
import { JSON_TYPE } from '../answer.ts';
import { answerCall } from '../api/routes.ts';
import type { Parts } from '../parts.ts';
import { SandboxError } from '../sandbox-error.ts';

const BROKEN = 'The create got no complete answer, because a fault is armed for its reference. Its payment may exist.';

/** @returns the payment's id. @throws {SandboxError} `refused` with the gateway's reasons, or without an answer */
export async function create(parts: Parts, payment: object, origin: string): Promise<string> {
  const body = JSON.stringify(payment);
  const { apiKey, signKey, signatureEncoding } = parts.settings;
  const signature = createHmac('sha256', signKey).update(body).digest(signatureEncoding);
  const init = { method: 'POST', headers: { ...JSON_TYPE, authorization: `Bearer ${apiKey}`, signature }, body };
  const request = new Request(`${origin}/api/v1/payments`, init);
  const { paymentId, message } = await answerCall(parts, request, undefined, true).catch(() => {
    throw new SandboxError('refused', BROKEN);
  });
  if (paymentId === undefined) throw new SandboxError('refused', `The gateway refuses the create: ${message}`);
  return paymentId;
}
