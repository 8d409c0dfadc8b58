// The public list of payment-gateway-sdk/redis.
export { type RedisClient, type RedisCluster, type RedisContext, type RedisInboxOptions, redisInbox } from './inbox.ts';
