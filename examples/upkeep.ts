// A worker, in any number of replicas: sends planned payouts, and finds payments whose callbacks were lost. It runs until
// SIGTERM. From a scheduler, call `gateway.upkeep({ handler, once: true })` every minute instead.
import { close, gateway, handler } from './payments.js';

const stopping = new AbortController();
for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => stopping.abort());

await gateway.upkeep({ handler, signal: stopping.signal }); // finishes running work
await close();
