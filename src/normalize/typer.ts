import type { Database } from '../duckdb/connection.js';
import { observeRows } from './observe.js';
import { quoteFile } from './quote-file.js';
import { detectShape, type ObservedFields } from './shape.js';
import { type ChangeOrigin, type Origin, type TypedFile, type TypingTask, typeFile } from './type-file.js';

/** A landed file of items as extraction hands it over. */
export interface LandedItems {
  path: string;
  rows: number;
  readAt: string;
  /** Rows of exports may be shaped in another way than those of `/items`. Default export. */
  origin?: Exclude<Origin, ChangeOrigin>;
}

/** A landed file of changes. */
export interface LandedChanges {
  path: string;
  rows: number;
  origin: ChangeOrigin;
}

/**
 * Types landed files one after the other, while more are being landed. What one file shows of the rows' shape holds
 * for those of the same origin after it.
 */
export class Typer {
  readonly #db: Database;
  readonly #run: { runId: string; workFolder: string };
  readonly #observed: Record<'export' | 'page', ObservedFields> = { export: new Map(), page: new Map() };
  #items: TypedFile[] = [];
  /** Files are looked at one after the other, ahead of the database's work. */
  #preparing: Promise<unknown> = Promise.resolve();
  #queue: Promise<void> = Promise.resolve();
  #error: unknown;

  constructor(db: Database, run: { runId: string; workFolder: string }) {
    this.#db = db;
    this.#run = run;
  }

  /** Starts typing a file of items; a fault comes out of `finish`. */
  addItems(landed: LandedItems): void {
    const prepared = this.#preparing.then(() => this.#prepareItems(landed));
    this.#preparing = prepared.catch(() => {}); // the queue below reports it
    this.#queue = this.#queue.then(async () => {
      try {
        const task = await prepared;
        if (this.#error === undefined) this.#items.push(await typeFile(this.#db, task));
      } catch (error) {
        this.#error ??= error;
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

  /** Types a landed file of changes. */
  async typeChanges({ path, rows, origin }: LandedChanges): Promise<TypedFile> {
    const landed = await quoteFile(path, this.#run.workFolder);
    await this.#queue;
    return typeFile(this.#db, { origin, sourcePath: path, landed, rows, readAt: '', ...this.#run });
  }

  /** Types a file of items that is none of the run's own. */
  async typeApart(landed: LandedItems): Promise<TypedFile> {
    const task = await this.#prepareItems(landed);
    await this.#queue;
    return typeFile(this.#db, task);
  }

  async #prepareItems({ path, rows, readAt, origin = 'export' }: LandedItems): Promise<TypingTask> {
    const observed = this.#observed[origin === 'export' ? 'export' : 'page'];
    await observeRows(path, observed);
    const shape = detectShape(observed);
    const landed = await quoteFile(path, this.#run.workFolder);
    return { origin, sourcePath: path, landed, shape, rows, readAt, ...this.#run };
  }
}
