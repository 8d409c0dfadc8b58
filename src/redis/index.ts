// The public list of payment-gateway-sdk/redis.
export { type RedisClient, type RedisInboxOptions, redisInbox } from './inbox.ts';
