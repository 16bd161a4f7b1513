import type { DeliveryTime } from '../../src/sandbox/webhooks/retry-schedule.js';

/** A clock that stops until a test waits for something, and then advances by the sender's own waits. */
export class DeliveryClock implements DeliveryTime {
  readonly scale = 1;
  /** By how much every timer is late, in milliseconds. */
  lateness = 0;
  #now = 0;
  /** The sender does one thing at a time, so it sleeps once at most. */
  #sleeper: { at: number; wake: () => void } | undefined;

  now(): number {
    return this.#now;
  }

  sleepUntil(at: number, signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      if (signal.aborted) return resolve();
      const wake = () => {
        signal.removeEventListener('abort', wake);
        this.#sleeper = undefined;
        resolve();
      };
      this.#sleeper = { at, wake };
      signal.addEventListener('abort', wake);
    });
  }

  /** Lets time pass until it holds. */
  async passUntil(holds: () => boolean): Promise<void> {
    while (!holds()) {
      const sleeper = this.#sleeper;
      if (sleeper !== undefined) {
        this.#now = Math.max(this.#now, sleeper.at + this.lateness);
        sleeper.wake();
      }
      await new Promise((resolve) => setImmediate(resolve));
    }
  }
}
