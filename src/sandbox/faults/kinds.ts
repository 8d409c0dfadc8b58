// The faults that hurt in production, by name, and what each does.

/** Faults of a create, or a lookup. */
export const CALL_FAULTS = {
  drop: 'The connection breaks before the gateway takes the call.',
  'reject-401': 'The gateway refuses the credentials.',
  'reject-422': 'The gateway refuses the request.',
  'reject-429': 'The gateway is busy, and says when to come again: `Retry-After: 1`.',
  'commit-then-drop': 'The gateway takes the call; the connection breaks before any answer.',
  'commit-then-cut': 'The gateway takes the call; the connection breaks in the middle of the answer.',
  'commit-then-502': 'The gateway takes the call; a proxy answers 502 with an HTML page.',
  'commit-then-truncate': 'The gateway takes the call; the HTTP answer is complete; its JSON is cut.',
  'commit-then-drift': 'The gateway takes the call; in its answer `amount` has become an object.',
  'unknown-status': 'The gateway takes the call; its answer has a `paymentStatus` that the document does not name.',
  slow: 'The gateway takes the call; its answer comes after 35 s, or `ms`.',
} as const;

/** Faults of the next callback of any payment. */
export const CALLBACK_FAULTS = {
  'callback-duplicate': 'The callback is posted twice.',
  'callback-reorder': 'The callback is held back until the next one of its payment has been posted.',
  'callback-delay': 'The callback is posted after 5 s, or `ms`.',
  'callback-lose': 'The callback is never posted.',
  'callback-forge': 'Before the callback somebody else posts a forged one: completed, and of ten times the amount.',
} as const;

export const FAULTS = { ...CALL_FAULTS, ...CALLBACK_FAULTS };

/** A fault of calls. */
export type CallFault = keyof typeof CALL_FAULTS;
/** A fault of callbacks. */
export type CallbackFault = keyof typeof CALLBACK_FAULTS;
/** Any fault. */
export type Fault = CallFault | CallbackFault;

/** The calls that a fault can be injected into. */
export type Operation = 'create' | 'lookup';
