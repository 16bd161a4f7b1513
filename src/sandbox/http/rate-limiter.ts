/** Requests per second in wall time: a bucket that holds one second's worth and refills steadily. */
export class RateLimiter {
  readonly perSecond: number | null;
  readonly #now: () => number;
  #tokens: number;
  #filledAt: number;

  /** @param now milliseconds of wall time, from any start */
  constructor(perSecond: number | null, now: () => number) {
    this.perSecond = perSecond;
    this.#now = now;
    this.#filledAt = now();
    this.#tokens = this.#capacity;
  }

  get #capacity(): number {
    return Math.max(1, this.perSecond ?? 1);
  }

  /** Takes one request's token. Returns 0, or the seconds to wait. */
  take(): number {
    if (this.perSecond === null) return 0;
    const now = this.#now();
    this.#tokens = Math.min(this.#capacity, this.#tokens + ((now - this.#filledAt) / 1000) * this.perSecond);
    this.#filledAt = now;
    if (this.#tokens >= 1) {
      this.#tokens -= 1;
      return 0;
    }
    return Math.max(1, Math.ceil((1 - this.#tokens) / this.perSecond));
  }

  get remaining(): number {
    return Math.floor(this.#tokens);
  }
}
