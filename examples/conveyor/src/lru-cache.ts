import { type Clock, systemClock } from './clock.ts';

export interface LruOptions {
  /** Entries that are kept; the least recently used goes first. */
  readonly capacity: number;
  /** Milliseconds after which an entry is stale; reading it does not make it younger. */
  readonly ttl?: number;
  readonly clock?: Clock;
}

interface Entry<V> {
  readonly value: V;
  readonly storedAt: number;
}

/** A cache in the order of use: the first key of the map is the least recently used one. */
export class LruCache<K, V> {
  readonly #entries = new Map<K, Entry<V>>();
  readonly #capacity: number;
  readonly #ttl: number;
  readonly #clock: Clock;

  constructor({ capacity, ttl = Infinity, clock = systemClock }: LruOptions) {
    if (!Number.isInteger(capacity) || capacity < 1) {
      throw new RangeError(`capacity must be a positive whole number: ${capacity}`);
    }
    this.#capacity = capacity;
    this.#ttl = ttl;
    this.#clock = clock;
  }

  get size(): number {
    return this.#entries.size;
  }

  /** Keys from the least to the most recently used one. */
  keys(): K[] {
    return [...this.#entries.keys()];
  }

  get(key: K): V | undefined {
    const entry = this.#entries.get(key);
    if (entry === undefined) return undefined;
    if (this.#isStale(entry)) {
      this.#entries.delete(key);
      return undefined;
    }
    return entry.value;
  }

  /** Whether there is a fresh entry. Does not count as use. */
  has(key: K): boolean {
    const entry = this.#entries.get(key);
    return entry !== undefined && !this.#isStale(entry);
  }

  set(key: K, value: V): this {
    this.#entries.delete(key);
    this.#entries.set(key, { value, storedAt: this.#clock() });
    if (this.#entries.size > this.#capacity) this.#evict();
    return this;
  }

  delete(key: K): boolean {
    return this.#entries.delete(key);
  }

  /** The value of a key, computed and stored when there is none. */
  async getOrLoad(key: K, load: (key: K) => Promise<V>): Promise<V> {
    if (this.has(key)) return this.get(key) as V;
    const value = await load(key);
    this.set(key, value);
    return value;
  }

  #isStale(entry: Entry<V>): boolean {
    return this.#clock() - entry.storedAt >= this.#ttl;
  }

  #evict(): void {
    for (const [key, entry] of this.#entries) {
      if (this.#isStale(entry)) {
        this.#entries.delete(key);
        return;
      }
    }
    const [oldest] = this.#entries.keys();
    this.#entries.delete(oldest as K);
  }
}
