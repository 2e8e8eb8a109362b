export { LruCache, type LruOptions } from './lru-cache.ts';
export { PriorityQueue } from './priority-queue.ts';
export { TokenBucket, type BucketOptions } from './token-bucket.ts';
export { delayBefore, retry, type RetryOptions } from './retry.ts';
export { WorkerPool, type Job } from './worker-pool.ts';
