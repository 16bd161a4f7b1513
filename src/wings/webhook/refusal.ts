import type { Io } from '../../io/io.js';

export class Refusal extends Error {
  readonly status: number;
  readonly facts: Record<string, unknown>;

  constructor(status: number, reason: string, facts: Record<string, unknown> = {}) {
    super(reason);
    this.status = status;
    this.facts = facts;
  }
}

const EVERY_MS = 10_000;

/** Logs each reason for a refusal at most once in ten seconds, so that strangers can't fill the disk. */
export class RefusalLog {
  readonly #io: Io;
  readonly #last = new Map<string, { at: number; skipped: number }>();

  constructor(io: Io) {
    this.#io = io;
  }

  add({ message: reason, facts }: Refusal): void {
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
