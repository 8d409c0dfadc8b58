// One process of a merchant that holds the lease on a payment, and prints when it has it and when it has lost it.
import { once } from 'node:events';
import { Redis } from 'ioredis';
import { redisInbox } from '../../src/redis/index.ts';

const { PREFIX = '', PAYMENT_ID = '', LEASE_MS = '' } = process.env;

const client = new Redis({ host: '127.0.0.1' });
const inbox = redisInbox(client, { prefix: PREFIX, leaseMs: Number(LEASE_MS) });
await inbox
  .run({ paymentId: PAYMENT_ID, status: 'COMPLETED', final: true }, async ({ signal }) => {
    console.log('entered');
    await once(signal, 'abort');
    signal.throwIfAborted();
  })
  .catch(error => console.log(error.message));
client.disconnect();
