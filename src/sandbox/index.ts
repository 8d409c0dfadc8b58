// The exports of payment-gateway-sdk/sandbox.

export type { Listening, ListenOptions } from './api/server.ts';
export type { SignatureCheck } from './api/signature.ts';
export type { RedeliverOptions } from './callbacks/callbacks.ts';
export type { Delivery } from './callbacks/delivery.ts';
export type { Clock } from './clock.ts';
export type { WaitFor } from './control/wait-for.ts';
export type { Armed, FaultOptions, Faults } from './faults/faults.ts';
export type { CallbackFault, CallFault, CreateFault, Fault, SandboxOperation } from './faults/kinds.ts';
export type { CompleteOptions, FailureReason, MoveOptions, PaymentRecord } from './ledger/record.ts';
export type { Call, SandboxEvent, SandboxListener } from './log/events.ts';
export { type ListeningSandbox, Sandbox } from './sandbox.ts';
export { SandboxError } from './sandbox-error.ts';
export type { CallbackFetch, SandboxOptions } from './sandbox-options.ts';
export type { SavedSandbox } from './saved.ts';
export type {
  AdvanceStep,
  Expectation,
  Expected,
  FaultStep,
  MoveStep,
  RedeliverStep,
  Scenario,
  ScenarioCreate,
  Step,
} from './scenarios/format.ts';
export type { ScenarioName } from './scenarios/library.ts';
export type { Played, PlayOptions } from './scenarios/play.ts';
export { readScenario } from './scenarios/read.ts';
export type { Duration } from './text/duration.ts';
