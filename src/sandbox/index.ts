// The public list of payment-gateway-sdk/sandbox.
export type { CallbackFetch, Delivery } from './callbacks.ts';
export type { SandboxEvent, SandboxListener } from './events.ts';
export type { Armed, CallbackFault, CallFault, Fault, FaultOptions, Faults, Operation } from './faults.ts';
export { type FailureReason, type PaymentRecord, SandboxError } from './ledger.ts';
export type { MoveOptions } from './moves.ts';
export { Sandbox, type SandboxOptions } from './sandbox.ts';
export type { Listening, ListenOptions } from './server.ts';
