import type { Io } from '../io/io.js';

const EVERY_MS = 10_000;

/** Logs refused deliveries, each reason at most every ten seconds, so that nobody who finds the address can fill the disk. */
export class RefusalLog {
  readonly #io: Io;
  readonly #last = new Map<string, { at: number; skipped: number }>();

  constructor(io: Io) {
    this.#io = io;
  }

  add(reason: string, facts: Record<string, unknown> = {}): void {
    const now = this.#io.now().getTime();
    const last = this.#last.get(reason);
    if (last !== undefined && now - last.at < EVERY_MS) {
      last.skipped++;
      return;
    }
    const more = last === undefined || last.skipped === 0 ? {} : { notLogged: last.skipped };
    this.#last.set(reason, { at: now, skipped: 0 });
    this.#io.log('warn', 'webhook.refused', { reason, ...facts, ...more });
  }
}
