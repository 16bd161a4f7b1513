import { setTimeout as sleep } from 'node:timers/promises';

/** The time by which deliveries are tried again. */
export interface DeliveryTime {
  /** How many times as fast as on the wall it passes. */
  readonly scale: number;
  /** Milliseconds since some start. */
  now(): number;
  /** Returns early, without an error, when the signal is aborted. */
  sleepUntil(at: number, signal: AbortSignal): Promise<void>;
}

/** Time that passes `scale` times as fast as on the wall: a day of retries fits into a test. */
export class ScaledTime implements DeliveryTime {
  readonly scale: number;
  readonly #start = performance.now();

  constructor(scale: number) {
    this.scale = scale;
  }

  now(): number {
    return (performance.now() - this.#start) * this.scale;
  }

  async sleepUntil(at: number, signal: AbortSignal): Promise<void> {
    const ms = Math.max(0, (at - this.now()) / this.scale);
    await sleep(ms, undefined, { signal, ref: false }).catch(() => {});
  }
}
