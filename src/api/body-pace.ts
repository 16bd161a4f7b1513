/** How quickly a body has to come. */
export interface BodyPace {
  /** Until its last byte, from its headers on, in milliseconds. */
  totalMs?: number;
  /** So many bytes have to come in so many milliseconds that were spent waiting for them. */
  minimum?: { windowMs: number; minBytes: number };
}

/** Watches a body that trickles: each byte ends the wait for data, so waiting for data alone would never end. */
export class PaceWatch {
  readonly #pace: BodyPace;
  readonly #endsAt: number;
  #waitedMs = 0;
  #bytes = 0;

  constructor(pace: BodyPace, now: number) {
    this.#pace = pace;
    this.#endsAt = now + (pace.totalMs ?? Number.POSITIVE_INFINITY);
  }

  /** After a wait that brought `bytes`. Time in which the reader was busy is not the service's. Throws when it is too slow. */
  check(now: number, waitedMs: number, bytes: number): void {
    const { totalMs = 0, minimum } = this.#pace;
    if (now > this.#endsAt) throw new Error(`not complete ${totalMs / 1000} s after its headers`);
    if (minimum === undefined) return;
    this.#waitedMs += waitedMs;
    this.#bytes += bytes;
    if (this.#waitedMs < minimum.windowMs) return;
    if (this.#bytes < minimum.minBytes) {
      throw new Error(`${this.#bytes} bytes in ${minimum.windowMs / 1000} s, at least ${minimum.minBytes} are due`);
    }
    this.#waitedMs = 0;
    this.#bytes = 0;
  }
}
