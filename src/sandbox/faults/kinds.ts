// The faults that hurt in production, with their names and effects.

/** Faults of a create or a lookup. */
export const CALL_FAULTS = {
  drop: 'The connection breaks before the gateway takes the call.',
  'reject-401': 'The gateway refuses the credentials.',
  'reject-422': 'The gateway refuses the request.',
  'reject-429': 'The gateway is busy, and answers with `Retry-After: 1`.',
  'commit-then-drop': 'The gateway takes the call; the connection breaks before any answer.',
  'commit-then-cut': 'The gateway takes the call; the connection breaks in the middle of the answer.',
  'commit-then-502': 'The gateway takes the call; a proxy answers 502 with an HTML page.',
  'commit-then-truncate': 'The gateway takes the call; the HTTP answer is complete; its JSON is cut.',
  'commit-then-drift': 'The gateway takes the call; in its answer `amount` has become an object.',
  'unknown-status': 'The gateway takes the call; its answer has a `paymentStatus` that the document does not name.',
  'created-offset': 'The gateway takes the call; in its answer `created` has an offset (`timezone_type` 1).',
  'created-abbreviation':
    'The gateway takes the call; in its answer `created` has an abbreviation (`timezone_type` 2).',
  slow: 'The gateway takes the call; its answer comes after 35 s, or `ms`.',
} as const;

/** Faults of a create: they change the gateway's record, or the order of its callback. */
export const CREATE_FAULTS = {
  'callback-first': 'The payment is completed, and its callback answered, before the create is.',
  'reference-trim': 'The gateway records the reference without white space at its ends.',
  'reference-fold': 'The gateway records the reference in lower case.',
  'amount-round': 'The gateway records the amount rounded to whole units, and at least 1.',
} as const;

/** Faults of the next callback of any payment. */
export const CALLBACK_FAULTS = {
  'callback-duplicate': 'The callback is posted twice.',
  'callback-reorder': 'The callback is held back until the next one of its payment has been posted.',
  'callback-delay': 'The callback is posted after 5 s, or `ms`.',
  'callback-lose': 'The callback is never posted.',
  'callback-forge': 'An attacker first posts a forged callback: completed, with ten times the amount.',
  'callback-drop-query': 'The callback is posted without the query of its address.',
} as const;

export const FAULTS = { ...CALL_FAULTS, ...CREATE_FAULTS, ...CALLBACK_FAULTS };

/** A fault of creates only. */
export type CreateFault = keyof typeof CREATE_FAULTS;
/** A fault of calls. */
export type CallFault = keyof typeof CALL_FAULTS | CreateFault;
/** A fault of callbacks. */
export type CallbackFault = keyof typeof CALLBACK_FAULTS;
/** Any fault. */
export type Fault = CallFault | CallbackFault;

/** The calls that a fault can apply to. */
export type SandboxOperation = 'create' | 'lookup';

export const isCallbackFault = (fault: Fault): fault is CallbackFault => Object.hasOwn(CALLBACK_FAULTS, fault);
export const isCreateFault = (fault: Fault): fault is CreateFault => Object.hasOwn(CREATE_FAULTS, fault);
/** Whether the fault has an adjustable time. */
export const takesMs = (fault: Fault): boolean => fault === 'slow' || fault === 'callback-delay';
