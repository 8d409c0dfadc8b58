// What the processes of the soak tell each other.

/** A payment as the gateway's books have it. */
export interface Booked {
  id: string;
  reference: string | null;
  paymentStatus: string;
  paymentType: string;
  amount: number;
}

export type ToGateway =
  /** Where callbacks can be posted to now. */
  | { type: 'shops'; ports: number[] }
  /** An operator asks the support which payments these references have. */
  | { type: 'ask'; references: string[] }
  /** No more faults, and every payment comes to its end. */
  | { type: 'calm' }
  | { type: 'books' };

export type FromGateway =
  | { type: 'ready'; url: string; apiKey: string; signKey: string }
  | { type: 'answer'; payments: Booked[] }
  | { type: 'calm' }
  | { type: 'books'; payments: Booked[]; faults: Record<string, number>; calls: number; callbacks: number };

export type ToApp =
  /** Wants nothing new, and lets what has begun come to its end. */
  | { type: 'rest' }
  /** One round of what a scheduler and the retries would do. */
  | { type: 'upkeep' }
  | { type: 'exit' };

/** What a process holds, after its garbage was collected. */
export interface Held {
  /** Milliseconds since the load began to be measured by the one who asks. */
  at: number;
  /** Megabytes. */
  heap: number;
  rss: number;
  sockets: number;
  /** Handles and requests of Node: timers, sockets, servers. */
  resources: number;
}

export type FromApp =
  | { type: 'ready'; port: number }
  | { type: 'sample'; held: Omit<Held, 'at'>; counts: Record<string, number> }
  | { type: 'resting' }
  | { type: 'kept' }
  /** Something that no fault explains. */
  | { type: 'surprise'; text: string };
