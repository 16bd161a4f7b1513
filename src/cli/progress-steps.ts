import type { Progress } from '../io/io.js';

export interface Step {
  progress: Progress;
  startedAt: number;
}

/** The steps of a run that are under way, and how long the run as a whole takes. */
export class Steps {
  readonly #steps = new Map<string, Step>();
  #startedAt: number | undefined;
  #pace: Progress['pace'];
  /** How much more this run fetches than earlier ones. */
  #scale = 1;

  update(progress: Progress): Step {
    const now = performance.now();
    this.#startedAt ??= now;
    const step = { progress, startedAt: this.#steps.get(progress.step)?.startedAt ?? now };
    if (progress.pace !== undefined) this.#pace = progress.pace;
    else if (progress.done === true) this.#steps.delete(progress.step);
    else this.#steps.set(progress.step, step);
    this.#rescale(progress);
    return step;
  }

  /** A copy says how many rows it has: a catalogue that has grown takes longer than it took. */
  #rescale({ step, totalRows }: Progress): void {
    if (step !== 'snapshot' || totalRows === undefined || this.#pace === undefined || this.#pace.rows === 0n) return;
    this.#scale = Math.max(1, Number(totalRows) / Number(this.#pace.rows));
  }

  all(): Step[] {
    return [...this.#steps.values()];
  }

  /** The step that began last. */
  last(): Step | undefined {
    return this.all().at(-1);
  }

  /** Since the run began. */
  seconds(): number {
    return this.#startedAt === undefined ? 0 : (performance.now() - this.#startedAt) / 1000;
  }

  /** By what earlier runs of its kind took; undefined without them, and for a run that takes longer. */
  secondsLeft(): number | undefined {
    if (this.#pace === undefined) return undefined;
    const left = this.#pace.seconds * this.#scale - this.seconds();
    return left > 0 ? left : undefined;
  }

  clear(): void {
    this.#steps.clear();
    this.#startedAt = undefined;
    this.#pace = undefined;
    this.#scale = 1;
  }
}
