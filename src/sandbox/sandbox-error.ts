// What the sandbox refuses to do.

/** A move, a redelivery or a scenario that the sandbox refuses. */
export class SandboxError extends Error {
  override readonly name = 'SandboxError';
  /** Stable and for machines. */
  readonly code: 'unknown_payment' | 'final_state' | 'unknown_delivery' | 'refused';
  constructor(code: SandboxError['code'], message: string) {
    super(message);
    this.code = code;
  }
}
