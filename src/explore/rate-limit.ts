/** The number of requests that an address may send at once, and per second after that. A page needs about three. */
const BURST = 120;
const PER_SECOND = 5;
const MOST_ADDRESSES = 10_000;

/** Limits requests per network address with token buckets, which refill over time. */
export class RateLimit {
  readonly #buckets = new Map<string, { left: number; at: number }>();
  readonly #now: () => number;

  /** @param now returns a monotonic time in milliseconds */
  constructor(now = () => performance.now()) {
    this.#now = now;
  }

  /** Counts a request. Returns false if the address has sent too many requests. */
  take(address: string): boolean {
    const now = this.#now();
    const { left, at } = this.#buckets.get(address) ?? { left: BURST, at: now };
    const filled = Math.min(BURST, left + ((now - at) * PER_SECOND) / 1000);
    const isAllowed = filled >= 1;
    // Moves the address to the end of the map, so that the first address is the least recently used.
    this.#buckets.delete(address);
    this.#buckets.set(address, { left: isAllowed ? filled - 1 : filled, at: now });
    for (const oldest of this.#buckets.keys()) {
      if (this.#buckets.size <= MOST_ADDRESSES) break;
      this.#buckets.delete(oldest);
    }
    return isAllowed;
  }
}
