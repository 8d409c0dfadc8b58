// The messages between the processes of the soak.

/** A payment in the gateway's books. */
export interface Booked {
  id: string;
  reference: string | null;
  paymentStatus: string;
  paymentType: string;
  amount: number;
}

/**
 * `shops`: the ports for callbacks. `calm`: no more faults, and every payment ends. `rest`: start nothing new, and end
 * the running work. `finish`: one round of clicks and upkeep.
 */
export type Command = { type: 'shops'; ports: number[] } | { type: 'calm' | 'books' } | { type: 'rest' | 'finish' };

/** The numbers of a gateway's run. */
export interface Books {
  payments: Booked[];
  faults: Record<string, number>;
  calls: number;
  callbacks: number;
  bursts: number;
  chargebacks: number;
  lostChargebacks: number;
}

/** The resources of a process after a garbage collection. Sizes are megabytes. */
export interface Held {
  /** Milliseconds since the start. */
  at: number;
  heap: number;
  rss: number;
  sockets: number;
  /** Handles and requests of Node: timers, sockets, servers. */
  resources: number;
}

/** `surprise`: an event that no fault explains. */
export type Report =
  | { type: 'gateway'; url: string; apiKey: string; signKey: string }
  | { type: 'calm' | 'rest' | 'finish' }
  | ({ type: 'books' } & Books)
  | { type: 'app'; port: number }
  | { type: 'sample'; held: Omit<Held, 'at'>; counts: Record<string, number> }
  | { type: 'surprise'; text: string };
