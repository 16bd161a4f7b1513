import type { Output } from '../../src/cli/output/output.js';

/** Keeps what is written; takes `most` writes, then behaves like a reader that has gone. */
export class MemoryOutput implements Output {
  readonly chunks: Buffer[] = [];
  readonly columns: number | undefined;
  readonly #most: number;

  constructor(columns?: number, most = Number.POSITIVE_INFINITY) {
    this.columns = columns;
    this.#most = most;
  }

  async write(chunk: string | Uint8Array): Promise<boolean> {
    if (this.chunks.length >= this.#most) return false;
    this.chunks.push(Buffer.from(chunk));
    return true;
  }

  get text(): string {
    return Buffer.concat(this.chunks).toString();
  }
}
