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
  /** The origin of the rows; defaults to `export`. Export rows and `/items` rows may have different fields. */
  origin?: Exclude<Origin, ChangeOrigin>;
  /** True for rows of an export that the run requested after the changes (origin `reread`). */
  isExport?: boolean;
  /** True if all rows belong to one website. */
  isOfOneSite?: boolean;
}

export interface ChangeFile {
  path: string;
  rows: number;
  origin: ChangeOrigin;
}

/** The size at which a batch of small files is typed. Each statement costs as much as typing thousands of rows. */
const BATCH_BYTES = 48 * 1024 * 1024;
/** If the queue has more downloaded bytes than this, `whenRoom` makes callers wait. */
const WAITING_BYTES = 1024 * 1024 * 1024;

interface TypingRun {
  runId: string;
  workFolder: string;
}

/**
 * Types files in batches while other files download. Large batches run in parallel, and small ones one at a time. The
 * structure found in one file also applies to later files of the same origin.
 */
export class TypingQueue {
  readonly #db: Database;
  readonly #run: TypingRun;
  /** The setting `source.mapping`, which applies only to export rows. */
  readonly #mapping: Mapping;
  readonly #look: LookAtRow;
  readonly #observed: Record<'export' | 'page', ObservedFields> = { export: new Map(), page: new Map() };
  /** Small files that wait until there are enough files for a batch. */
  #small: LandedItems[] = [];
  /** Resolves when all small batches and files of changes so far are typed. An error doesn't stop later files. */
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

  /** Ignores files of items that are added after this call. A later attempt of the run types these files. */
  leaveItems(): void {
    this.#isLeft = true;
  }

  /**
   * Starts typing a file of items. Ignores a file that was already added. If typing fails, `finish` throws the error. A
   * file that may be discarded later is typed alone.
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

  /** Resolves when the queue has room. Await this before downloading more files. */
  async whenRoom(): Promise<void> {
    while (this.#waitingBytes > WAITING_BYTES) await new Promise<void>((resolve) => this.#waiters.push(resolve));
  }

  /** Discards these files, because the export that contained them must be requested again. */
  forget(paths: readonly string[]): void {
    for (const path of paths) this.#void.add(path);
  }

  /** Waits for all files of items that were added. Returns their typed files, including those of earlier calls. */
  async finish(): Promise<TypedFile[]> {
    this.#closeBatch();
    const typed = (await Promise.all(this.#typed)).flat();
    const isValid = (paths: string[]) => !paths.some((path) => this.#void.has(path));
    const fault = this.#faults.find(({ paths }) => isValid(paths));
    if (fault !== undefined) throw fault.error;
    return typed.filter(({ sources }) => isValid(sources));
  }

  /** Lists the values of an item that have no field in any export row observed so far. */
  listAbsent(): ItemValue[] {
    return listAbsent(this.#observed.export, this.#mapping);
  }

  async typeChanges({ path, rows, origin }: ChangeFile): Promise<TypedFile> {
    await observeRows([{ path }], (row) => this.#look(CHANGE_ANSWERS[origin], row));
    const { runId } = this.#run;
    return this.#typeApart({ origin, sources: [{ path, readAt: '', rows }], mapping: {}, runId });
  }

  /** Types a file of items outside the queue. `finish` doesn't return the result. */
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

  /** Starts a batch. Observes batches one after another, because each uses the structure found in earlier batches. */
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

  /** Records an error for `finish`, which throws it unless the files have been discarded. */
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
