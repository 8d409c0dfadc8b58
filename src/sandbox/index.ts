// The public list of payment-gateway-sdk/sandbox.
export type { CallbackFetch } from './callbacks.ts';
export type { Delivery } from './delivery.ts';
export { SandboxError } from './errors.ts';
export type { SandboxEvent, SandboxListener } from './events.ts';
export type { CallbackFault, CallFault, Fault, Operation } from './fault-kinds.ts';
export type { Armed, FaultOptions, Faults } from './faults.ts';
export type { FailureReason, PaymentRecord } from './ledger.ts';
export type { MoveOptions } from './moves.ts';
export type { SandboxOptions } from './options.ts';
export { Sandbox } from './sandbox.ts';
export type { Listening, ListenOptions } from './server.ts';
