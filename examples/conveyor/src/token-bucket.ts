import { type Clock, systemClock } from './clock.ts';

export interface BucketOptions {
  /** Tokens that the bucket holds; it starts full. */
  readonly capacity: number;
  /** One token is added every so many milliseconds. */
  readonly interval: number;
  readonly clock?: Clock;
}

/** Limits a rate while it lets short bursts through. */
export class TokenBucket {
  readonly #capacity: number;
  readonly #interval: number;
  readonly #clock: Clock;
  #tokens: number;
  #refilledAt: number;

  constructor({ capacity, interval, clock = systemClock }: BucketOptions) {
    if (capacity < 1 || interval <= 0) throw new RangeError('capacity and interval must be positive');
    this.#capacity = capacity;
    this.#interval = interval;
    this.#clock = clock;
    this.#tokens = capacity;
    this.#refilledAt = clock();
  }

  /** Takes tokens if there are enough. */
  tryTake(count = 1): boolean {
    if (count > this.#capacity) throw new RangeError(`more than the bucket holds: ${count}`);
    this.#refill();
    if (this.#tokens < count) return false;
    this.#tokens -= count;
    return true;
  }

  /** Milliseconds until `count` tokens will be there. */
  waitFor(count = 1): number {
    this.#refill();
    const missing = count - this.#tokens;
    if (missing <= 0) return 0;
    return missing * this.#interval - (this.#clock() - this.#refilledAt);
  }

  #refill(): void {
    const added = Math.floor((this.#clock() - this.#refilledAt) / this.#interval);
    if (added === 0) return;
    this.#refilledAt = this.#clock();
    this.#tokens = Math.min(this.#capacity, this.#tokens + added);
  }
}
