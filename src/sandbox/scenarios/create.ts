// Sends a signed create to the sandbox, as a merchant would.
import { createHmac } from 'node:crypto';
import { JSON_TYPE } from '../answer.ts';
import { takeCreate } from '../api/routes.ts';
import type { Parts } from '../parts.ts';
import { SandboxError } from '../sandbox-error.ts';

/** The answer to a create: a payment, maybe in `result`, or a refusal. */
interface Answer {
  id?: string;
  result?: { id: string };
  message?: string;
  errors?: Record<string, string[]>;
}

const BROKEN = 'The create got no complete answer, because a fault is armed for its reference. Its payment may exist.';

/** @returns the payment's id. @throws {SandboxError} `refused` with the gateway's reasons, or without a complete answer */
export async function create(parts: Parts, payment: object, origin: string): Promise<string> {
  const body = JSON.stringify(payment);
  const { apiKey, signKey, signatureEncoding } = parts.settings;
  const signature = createHmac('sha256', signKey).update(body).digest(signatureEncoding);
  const init = { method: 'POST', headers: { ...JSON_TYPE, authorization: `Bearer ${apiKey}`, signature }, body };
  const answer: Answer = await takeCreate(parts, new Request(`${origin}/api/v1/payments`, init), true)
    .then(response => response.json() as Promise<Answer>)
    .catch(() => {
      throw new SandboxError('refused', BROKEN);
    });
  const { id, result, message, errors = {} } = answer;
  const made = result?.id ?? id;
  if (made !== undefined) return made;
  const fields = Object.entries(errors).map(([field, problems]) => `${field}: ${problems.join(', ')}`);
  throw new SandboxError('refused', `The gateway refuses the create: ${[message, ...fields].join(' ')}`);
}
