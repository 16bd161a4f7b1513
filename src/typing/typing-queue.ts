import type { Database } from '../sql/connection.js';
import type { ItemValue, Mapping } from '../tables/item-names.js';
import { CHANGE_ANSWERS, type ChangeOrigin, type LookAtRow } from '../tables/table.js';
import { isCsv, type Look, observeCsv, observeRows } from './observe.js';
import { detectShape, listAbsent, type ObservedFields, observeRow } from './shape.js';
import { type Origin, quoteTask, type TypedFile, type TypingSource, type TypingTask, typeFiles } from './type-file.js';

export interface LandedItems {
  path: string;
  rows: number;
  bytes: number;
  readAt: string;
  /** The origin of the rows; default `export`. Export rows may have a different shape from `/items` rows. */
  origin?: Exclude<Origin, ChangeOrigin>;
  /** True for items that were read a second time, from an export. */
  isExport?: boolean;
  /** True if all rows belong to one website. */
  isOfOneSite?: boolean;
}

export interface ChangeFile {
  path: string;
  rows: number;
  origin: ChangeOrigin;
}

/** Files below this total size are typed together, because each statement costs as much as several thousand rows. */
const BATCH_BYTES = 48 * 1024 * 1024;
/** The landed bytes that may be queued before `whenRoom` makes callers wait. */
const WAITING_BYTES = 1024 * 1024 * 1024;

interface TypingRun {
  runId: string;
  workFolder: string;
}

/**
 * Types landed files in batches while more files land. Large batches run in parallel, small ones one at a time. A shape
 * found in one file also applies to later files from the same origin.
 */
export class TypingQueue {
  readonly #db: Database;
  readonly #run: TypingRun;
  /** Applies only to export rows. */
  readonly #mapping: Mapping;
  readonly #look: LookAtRow;
  readonly #observed: Record<'export' | 'page', ObservedFields> = { export: new Map(), page: new Map() };
  /** Small files waiting for a full batch. */
  #small: LandedItems[] = [];
  /** The chain of small batches and change files. It continues after a failure. */
  #work: Promise<unknown> = Promise.resolve();
  #prepared: Promise<unknown> = Promise.resolve();
  #waitingBytes = 0;
  #waiters: (() => void)[] = [];
  readonly #typed: Promise<TypedFile[]>[] = [];
  #faults: { error: unknown; paths: string[] }[] = [];
  readonly #added = new Set<string>();
  readonly #void = new Set<string>();
  #isLeft = false;

  /** @param look receives each row that is observed before typing */
  constructor(db: Database, run: TypingRun, mapping: Mapping = {}, look: LookAtRow = () => {}) {
    this.#db = db;
    this.#run = run;
    this.#mapping = mapping;
    this.#look = look;
  }

  /** Ignores item files added after this call. A retry of the run will type them. */
  leaveItems(): void {
    this.#isLeft = true;
  }

  /**
   * Starts typing an item file, unless it was already added. `finish` throws its error. A file that may be discarded
   * later is typed by itself.
   */
  addItems(landed: LandedItems, { mayBecomeVoid = false } = {}): void {
    if (this.#isLeft || this.#added.has(landed.path)) return;
    this.#added.add(landed.path);
    this.#waitingBytes += landed.bytes;
    const [before] = this.#small;
    if (mayBecomeVoid || (before !== undefined && !areAlike(before, landed))) this.#closeBatch();
    this.#small.push(landed);
    if (mayBecomeVoid || countBytes(this.#small) >= BATCH_BYTES) this.#closeBatch();
  }

  /** Resolves when few enough landed bytes are queued. Await it before landing more. */
  async whenRoom(): Promise<void> {
    while (this.#waitingBytes > WAITING_BYTES) await new Promise<void>((resolve) => this.#waiters.push(resolve));
  }

  /** Discards these files, because their export must be requested again. */
  forget(paths: readonly string[]): void {
    for (const path of paths) this.#void.add(path);
  }

  /** Waits for all item files added so far. Returns their typed files, including files returned before. */
  async finish(): Promise<TypedFile[]> {
    this.#closeBatch();
    const typed = (await Promise.all(this.#typed)).flat();
    const isValid = (paths: string[]) => !paths.some((path) => this.#void.has(path));
    const fault = this.#faults.find(({ paths }) => isValid(paths));
    if (fault !== undefined) throw fault.error;
    return typed.filter(({ sources }) => isValid(sources));
  }

  /** Returns the item values for which no observed export row had a field. */
  listAbsent(): ItemValue[] {
    return listAbsent(this.#observed.export, this.#mapping);
  }

  async typeChanges({ path, rows, origin }: ChangeFile): Promise<TypedFile> {
    await observeRows([{ path }], (row) => this.#look(CHANGE_ANSWERS[origin], row));
    const { runId } = this.#run;
    return this.#typeApart({ origin, sources: [{ path, readAt: '', rows }], mapping: {}, runId });
  }

  /** Types an item file outside the queue. `finish` doesn't return it. */
  async typeApart(landed: LandedItems): Promise<TypedFile> {
    return this.#typeApart(await this.#prepare([landed]));
  }

  async #typeApart(task: TypingTask): Promise<TypedFile> {
    const quoted = await quoteTask(this.#db, task, this.#run.workFolder);
    const [typed] = await this.#inTurn(() => typeFiles(this.#db, quoted));
    return typed as TypedFile;
  }

  #inTurn<T>(work: () => Promise<T>): Promise<T> {
    const done = this.#work.then(work);
    this.#work = done.catch(() => {});
    return done;
  }

  #closeBatch(): void {
    if (this.#small.length === 0) return;
    const files = this.#small;
    this.#small = [];
    this.#typed.push(this.#settle(files, this.#begin(files)));
  }

  /** Starts a batch. Batches are observed one after the other, so each one knows the shape that earlier ones showed. */
  #begin(files: LandedItems[]): Promise<TypedFile[]> {
    const { workFolder } = this.#run;
    const looked = this.#prepared.then(() => this.#prepare(files));
    const quoted = looked.then((task) => quoteTask(this.#db, task, workFolder));
    this.#prepared = quoted.catch(() => {});
    return quoted.then((task) => {
      this.#db.throwIfStopped();
      const type = () => typeFiles(this.#db, task);
      return countBytes(files) < BATCH_BYTES ? this.#inTurn(type) : this.#db.inLane(type);
    });
  }

  /** Stores an error for `finish`, which throws it unless the files are discarded. */
  async #settle(files: LandedItems[], typing: Promise<TypedFile[]>): Promise<TypedFile[]> {
    try {
      return await typing;
    } catch (error) {
      this.#faults.push({ error, paths: files.map(({ path }) => path) });
      return [];
    } finally {
      this.#waitingBytes -= countBytes(files);
      const waiters = this.#waiters;
      this.#waiters = [];
      for (const wake of waiters) wake();
    }
  }

  async #prepare(files: LandedItems[]): Promise<TypingTask> {
    const [first] = files as [LandedItems, ...LandedItems[]];
    const origin = originOf(first);
    const isExport = origin === 'export' || first.isExport === true;
    const observed = this.#observed[isExport ? 'export' : 'page'];
    const mapping = isExport ? this.#mapping : {};
    const look: Look = {
      observed,
      mapping,
      show: (row, format) => this.#look(isExport ? '/export' : '/items', row, format),
    };
    const readsCsv = isCsv(first.path);
    if (!readsCsv) {
      await observeRows(files, (row) => {
        observeRow(observed, row, mapping);
        look.show(row);
      });
    }
    const sources: TypingSource[] = [];
    for (const file of files) {
      this.#db.throwIfStopped();
      const { path, readAt, rows, isOfOneSite = false } = file;
      sources.push({ path, readAt, rows, isOfOneSite, ...(readsCsv ? { csv: await observeCsv(path, look) } : {}) });
    }
    const shape = detectShape(observed, readsCsv ? 'csv' : 'json', mapping);
    return { origin, sources, shape, mapping, runId: this.#run.runId };
  }
}

const countBytes = (files: readonly LandedItems[]) => files.reduce((sum, file) => sum + file.bytes, 0);

function areAlike(a: LandedItems, b: LandedItems): boolean {
  return (
    originOf(a) === originOf(b) && (a.isExport ?? false) === (b.isExport ?? false) && isCsv(a.path) === isCsv(b.path)
  );
}

function originOf({ origin = 'export' }: LandedItems): Exclude<Origin, ChangeOrigin> {
  return origin;
}
