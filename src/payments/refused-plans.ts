// How many planned creates were refused since the gateway took one. It may be the client that is refused, such as for a wrong
// sign key, by a status that says it of the request: then each plan would be thrown away.
import type { Gateway } from './gateway.ts';

const refusals = new WeakMap<Gateway, number>();
const MOST_REFUSALS = 3;

/** A planned create was refused. @returns whether it is planned again all the same */
export function keepsRefused(gateway: Gateway): boolean {
  const before = refusals.get(gateway) ?? 0;
  refusals.set(gateway, before + 1);
  return before >= MOST_REFUSALS;
}

/** The gateway has taken a create. */
export const forgetRefusals = (gateway: Gateway): boolean => refusals.delete(gateway);
