/** Requests that an address may send at once, and per second from then on. A page is some three requests. */
const BURST = 120;
const PER_SECOND = 5;
const MOST_ADDRESSES = 10_000;

/** A bucket of requests for each address of the network. It refills with time. */
export class RateLimit {
  readonly #buckets = new Map<string, { left: number; at: number }>();
  readonly #now: () => number;

  /** `now` is in milliseconds, and never goes back. */
  constructor(now = () => performance.now()) {
    this.#now = now;
  }

  /** Counts a request; false if the address has sent too many. */
  take(address: string): boolean {
    const now = this.#now();
    const { left, at } = this.#buckets.get(address) ?? { left: BURST, at: now };
    const filled = Math.min(BURST, left + ((now - at) * PER_SECOND) / 1000);
    const isAllowed = filled >= 1;
    // The address that has been quiet for longest is the first of the map.
    this.#buckets.delete(address);
    this.#buckets.set(address, { left: isAllowed ? filled - 1 : filled, at: now });
    for (const oldest of this.#buckets.keys()) {
      if (this.#buckets.size <= MOST_ADDRESSES) break;
      this.#buckets.delete(oldest);
    }
    return isAllowed;
  }
}
