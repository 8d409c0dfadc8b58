// The public list of payment-gateway-sdk/sandbox.
export type { CallbackFetch, Delivery } from './callbacks.ts';
export type { Fault } from './faults.ts';
export { type FailureReason, type PaymentRecord, SandboxError } from './ledger.ts';
export { type MoveOptions, Sandbox, type SandboxOptions } from './sandbox.ts';
export type { Listening, ListenOptions } from './server.ts';
