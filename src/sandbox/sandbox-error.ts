// The error of every refusal of the sandbox.

/** A move, redelivery, scenario or wait that the sandbox refused or that timed out. */
export class SandboxError extends Error {
  override readonly name = 'SandboxError';
  /** A stable code for programs. */
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
