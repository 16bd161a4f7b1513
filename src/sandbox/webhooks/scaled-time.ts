import { setTimeout as sleep } from 'node:timers/promises';

/** Time that passes `scale` times as fast as on the wall: a day of retries fits into a test. */
export class ScaledTime {
  readonly scale: number;
  readonly #start = performance.now();

  constructor(scale: number) {
    this.scale = scale;
  }

  /** Milliseconds since some start. */
  now(): number {
    return (performance.now() - this.#start) * this.scale;
  }

  /** Returns early, without an error, when the signal is aborted. */
  async sleepUntil(at: number, signal: AbortSignal): Promise<void> {
    const ms = Math.max(0, (at - this.now()) / this.scale);
    await sleep(ms, undefined, { signal, ref: false }).catch(() => {});
  }
}
