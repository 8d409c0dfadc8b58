// What the sandbox refuses to do.

/** A move, a redelivery, a scenario or a wait that the sandbox refuses, or whose time has passed. */
export class SandboxError extends Error {
  override readonly name = 'SandboxError';
  /** Stable and for machines. */
  readonly code:
    | 'unknown_payment'
    | 'unknown_delivery'
    | 'unknown_call'
    | 'unknown_fault'
    | 'unknown_scenario'
    | 'final_state'
    | 'refused'
    | 'timeout';
  constructor(code: SandboxError['code'], message: string) {
    super(message);
    this.code = code;
  }
}
