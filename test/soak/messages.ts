// The messages between the soak and the processes of its merchant.

/** `rest`: start nothing new, and end the running work. `finish`: one round of clicks and upkeep. */
export type Command = { type: 'rest' | 'finish' };

/** The resources of a process after a garbage collection. Sizes are megabytes. */
export interface Held {
  /** Milliseconds since the start. */
  at: number;
  heap: number;
  sockets: number;
}

/** `surprise`: an event that no fault explains. */
export type Report =
  | { type: 'rest' | 'finish' }
  | { type: 'app'; port: number }
  | { type: 'sample'; held: Omit<Held, 'at'>; counts: Record<string, number> }
  | { type: 'surprise'; text: string };
