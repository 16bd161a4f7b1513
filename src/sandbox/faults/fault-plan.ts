import { fraction } from '../catalogue/shops.js';
import type { Fault, FaultEffect } from './fault.js';
import type { FaultEndpoint } from './fault-kinds.js';

interface Armed {
  fault: Fault;
  requests: number;
  fired: number;
}

/** The faults that are armed, and which of them hit a request. The same seed draws the same again. */
export class FaultPlan {
  readonly #seed: number;
  #armed: Armed[] = [];

  constructor(seed: number, faults: readonly Fault[] = []) {
    this.#seed = seed;
    this.arm(faults);
  }

  /** Replaces what was armed; the count of requests starts over. */
  arm(faults: readonly Fault[]): void {
    this.#armed = faults.map((fault) => ({ fault, requests: 0, fired: 0 }));
  }

  get isEmpty(): boolean {
    return this.#armed.length === 0;
  }

  /** Counts a request, and returns the faults that hit it. */
  take(endpoint: FaultEndpoint): FaultEffect[] {
    const hits: FaultEffect[] = [];
    for (const [index, armed] of this.#armed.entries()) {
      if (armed.fault.endpoint !== 'any' && armed.fault.endpoint !== endpoint) continue;
      armed.requests++;
      if (!this.#hits(armed, index)) continue;
      armed.fired++;
      hits.push(armed.fault.effect);
    }
    return hits;
  }

  #hits({ fault: { timing }, requests }: Armed, index: number): boolean {
    if ('probability' in timing) return fraction(this.#seed, requests, `fault ${index}`) < timing.probability;
    return requests >= timing.first && requests <= timing.last;
  }

  /** Each fault as written, with the requests that it has seen and those that it hit. */
  list(): { fault: string; requests: number; fired: number }[] {
    return this.#armed.map(({ fault, requests, fired }) => ({ fault: fault.text, requests, fired }));
  }
}
