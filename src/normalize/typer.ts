import type { Database } from '../duckdb/connection.js';
import { observeLines, observePages } from './observe.js';
import { detectShape, type ObservedFields } from './shape.js';
import { type TypedFile, typeFile } from './type-file.js';

/** A landed file of items as extraction hands it over. */
export interface LandedItems {
  path: string;
  layout: 'lines' | 'pages';
  rows: number;
  readAt: string;
  maxLineBytes?: number;
}

/**
 * Types landed files one after the other, while more are being landed. What one file shows of the rows' shape holds
 * for those after it.
 */
export class Typer {
  readonly #db: Database;
  readonly #run: { runId: string; workFolder: string };
  readonly #observed: ObservedFields = new Map();
  #items: TypedFile[] = [];
  #queue: Promise<void> = Promise.resolve();
  #error: unknown;

  constructor(db: Database, run: { runId: string; workFolder: string }) {
    this.#db = db;
    this.#run = run;
  }

  /** Starts typing a file of items; a fault comes out of `finish`. */
  addItems(landed: LandedItems): void {
    this.#queue = this.#queue.then(async () => {
      if (this.#error !== undefined) return;
      try {
        this.#items.push(await this.#typeItems(landed));
      } catch (error) {
        this.#error = error;
      }
    });
  }

  /** Forgets what was typed: its export has to be taken again. */
  async reset(): Promise<void> {
    await this.#queue;
    this.#items = [];
    this.#error = undefined;
  }

  /** All files of items typed so far. */
  async finish(): Promise<TypedFile[]> {
    await this.#queue;
    if (this.#error !== undefined) throw this.#error;
    return this.#items;
  }

  /** Types the landed pages of the feed. */
  async typeChanges(landed: { path: string; rows: number; maxLineBytes: number }): Promise<TypedFile> {
    await this.#queue;
    const { path, rows, maxLineBytes } = landed;
    const layout = 'pages' as const;
    return typeFile(this.#db, {
      kind: 'changes',
      landed: { path, layout, maxLineBytes },
      rows,
      readAt: '',
      ...this.#run,
    });
  }

  async #typeItems({ path, layout, rows, readAt, maxLineBytes = 0 }: LandedItems): Promise<TypedFile> {
    await (layout === 'lines' ? observeLines : observePages)(path, this.#observed);
    const shape = detectShape(this.#observed);
    return typeFile(this.#db, {
      kind: 'items',
      landed: { path, layout, maxLineBytes },
      shape,
      rows,
      readAt,
      ...this.#run,
    });
  }
}
