import type { Database } from '../duckdb/connection.js';
import type { AnswerName, LookAtRow } from '../tables/table.js';
import type { ItemValue, Mapping } from './item-names.js';
import { observeRows } from './observe.js';
import { isCsv, type Look, readCsvFile, readLinesFile } from './observe-file.js';
import { quoteFile } from './quote-file.js';
import { detectShape, listAbsent, type ObservedFields } from './shape.js';
import {
  type ChangeOrigin,
  type Origin,
  type TypedFile,
  type TypingSource,
  type TypingTask,
  typeFiles,
} from './type-file.js';

/** A landed file of items as extraction hands it over. */
export interface LandedItems {
  path: string;
  rows: number;
  bytes: number;
  readAt: string;
  /** Rows of exports may be shaped in another way than those of `/items`. Default export. */
  origin?: Exclude<Origin, ChangeOrigin>;
  /** True for rereads that come from an export. */
  isExport?: boolean;
}

/** A landed file of changes. */
export interface LandedChanges {
  path: string;
  rows: number;
  origin: ChangeOrigin;
}

/** Files below this size are typed together: each statement costs as much as some thousand rows. */
const BATCH_BYTES = 48 * 1024 * 1024;
/** Landed bytes that may wait to be typed before `whenRoom` asks to wait. */
const WAITING_BYTES = 1024 * 1024 * 1024;

/**
 * Types landed files one batch after the other, while more are being landed. What one file shows of the rows' shape
 * holds for those of the same origin after it.
 */
export class TypingQueue {
  readonly #db: Database;
  readonly #run: { runId: string; workFolder: string };
  /** Of export rows. */
  readonly #mapping: Mapping;
  readonly #look: LookAtRow;
  readonly #observed: Record<'export' | 'page', ObservedFields> = { export: new Map(), page: new Map() };
  /** Small files until they are worth a batch. */
  #small: LandedItems[] = [];
  #batches: LandedItems[][] = [];
  #work: Promise<void> = Promise.resolve();
  #isAtWork = false;
  #waitingBytes = 0;
  #waiters: (() => void)[] = [];
  #typed: TypedFile[] = [];
  #faults: { error: unknown; paths: string[] }[] = [];
  readonly #void = new Set<string>();

  /** `look` is shown the rows of landed files that are looked at before they are typed. */
  constructor(
    db: Database,
    run: { runId: string; workFolder: string },
    mapping: Mapping = {},
    look: LookAtRow = () => {},
  ) {
    this.#db = db;
    this.#run = run;
    this.#mapping = mapping;
    this.#look = look;
  }

  /** Starts typing a file of items; a fault comes out of `finish`. One that may become void is typed on its own. */
  addItems(landed: LandedItems, { mayBecomeVoid = false } = {}): void {
    this.#waitingBytes += landed.bytes;
    const [before] = this.#small;
    if (mayBecomeVoid || (before !== undefined && !areAlike(before, landed))) this.#closeBatch();
    this.#small.push(landed);
    const bytes = this.#small.reduce((sum, file) => sum + file.bytes, 0);
    if (mayBecomeVoid || bytes >= BATCH_BYTES) this.#closeBatch();
  }

  /** Resolves when few enough landed bytes wait to be typed: whoever lands more asks first. */
  async whenRoom(): Promise<void> {
    while (this.#waitingBytes > WAITING_BYTES) await new Promise<void>((resolve) => this.#waiters.push(resolve));
  }

  /** These landed files are void: their export has to be taken again. */
  forget(paths: readonly string[]): void {
    for (const path of paths) this.#void.add(path);
  }

  /** All files of items typed so far. */
  async finish(): Promise<TypedFile[]> {
    this.#closeBatch();
    await this.#work;
    const isValid = (paths: string[]) => !paths.some((path) => this.#void.has(path));
    const fault = this.#faults.find(({ paths }) => isValid(paths));
    if (fault !== undefined) throw fault.error;
    return this.#typed.filter(({ sources }) => isValid(sources));
  }

  /** Values of items that no row of an export showed, as far as they were looked at. */
  listAbsent(): ItemValue[] {
    return listAbsent(this.#observed.export, this.#mapping);
  }

  /** Types a landed file of changes. */
  async typeChanges({ path, rows, origin }: LandedChanges): Promise<TypedFile> {
    await observeRows(path, (row) => this.#look(CHANGE_ANSWERS[origin], row));
    const landed = await quoteFile(path, '', this.#run.workFolder);
    return this.#typeApart({ origin, sources: [{ path, landed, rows }], ...this.#run });
  }

  /** Types a file of items that is none of the run's own. */
  async typeApart(landed: LandedItems): Promise<TypedFile> {
    return this.#typeApart(await this.#prepare([landed]));
  }

  async #typeApart(task: TypingTask): Promise<TypedFile> {
    const work = this.#work.then(() => typeFiles(this.#db, task));
    this.#work = work.then(
      () => {},
      () => {},
    );
    const [typed] = await work;
    return typed as TypedFile;
  }

  #closeBatch(): void {
    if (this.#small.length === 0) return;
    this.#batches.push(this.#small);
    this.#small = [];
    if (this.#isAtWork) return;
    this.#isAtWork = true;
    this.#work = this.#work.then(() => this.#typeBatches());
  }

  /** The next batch is looked at while the database works on the one before. */
  async #typeBatches(): Promise<void> {
    let next = this.#prepareNext();
    while (next !== undefined) {
      const { files, prepared } = next;
      next = undefined;
      try {
        this.#db.throwIfStopped();
        const task = await prepared;
        next = this.#prepareNext();
        this.#typed.push(...(await typeFiles(this.#db, task)));
      } catch (error) {
        this.#faults.push({ error, paths: files.map(({ path }) => path) });
      }
      for (const { bytes } of files) this.#waitingBytes -= bytes;
      for (const wake of this.#waiters.splice(0)) wake();
      next ??= this.#prepareNext();
    }
    this.#isAtWork = false;
  }

  #prepareNext(): { files: LandedItems[]; prepared: Promise<TypingTask> } | undefined {
    const files = this.#batches.shift();
    if (files === undefined) return undefined;
    const prepared = this.#prepare(files);
    prepared.catch(() => {}); // awaited by #typeBatches
    return { files, prepared };
  }

  async #prepare(files: LandedItems[]): Promise<TypingTask> {
    const [first] = files as [LandedItems, ...LandedItems[]];
    const origin = originOf(first);
    const isExport = origin === 'export' || first.isExport === true;
    const observed = this.#observed[isExport ? 'export' : 'page'];
    const mapping = isExport ? this.#mapping : {};
    const show: Look['show'] = (row, format) => this.#look(isExport ? '/export' : '/items', row, format);
    const read = isCsv(first.path) ? readCsvFile : readLinesFile;
    const sources: TypingSource[] = [];
    for (const file of files) {
      this.#db.throwIfStopped();
      const landed = await read(file, { observed, mapping, show, workFolder: this.#run.workFolder });
      sources.push({ path: file.path, landed, rows: file.rows });
    }
    const shape = detectShape(observed, isCsv(first.path) ? 'csv' : 'json', mapping);
    return { origin, sources: sources as [TypingSource, ...TypingSource[]], shape, ...this.#run };
  }
}

/** Where changes come from, as the document names it. */
const CHANGE_ANSWERS = {
  feed: '/changes',
  webhook: 'webhook',
  history: '/items/{id}/history',
} as const satisfies Record<ChangeOrigin, AnswerName>;

function areAlike(a: LandedItems, b: LandedItems): boolean {
  return (
    originOf(a) === originOf(b) && (a.isExport ?? false) === (b.isExport ?? false) && isCsv(a.path) === isCsv(b.path)
  );
}

function originOf({ origin = 'export' }: LandedItems): Exclude<Origin, ChangeOrigin> {
  return origin;
}
