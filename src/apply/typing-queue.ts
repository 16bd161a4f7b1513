import type { Database } from '../sql/connection.js';
import type { AnswerName, LookAtRow } from '../tables/table.js';
import { type ItemValue, isItemId, type Mapping } from './item-names.js';
import { observeRows } from './observe.js';
import { isCsv, type Look, observeLines, readCsvFile } from './observe-file.js';
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
  /** True where all rows are of one website. */
  isOfOneSite?: boolean;
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
 * Types landed files in batches while more are being landed: large batches side by side, the others one after the other.
 * What one file shows of the rows' shape holds for those of the same origin after it.
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
  /** Small batches, and files of changes. */
  #work: Promise<unknown> = Promise.resolve();
  /** The last batch that was looked at. */
  #prepared: Promise<unknown> = Promise.resolve();
  #waitingBytes = 0;
  #waiters: (() => void)[] = [];
  readonly #typed: Promise<TypedFile[]>[] = [];
  #faults: { error: unknown; paths: string[] }[] = [];
  readonly #void = new Set<string>();
  #isLeft = false;

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

  /** From now on items are not typed: a later try of the run is handed the same files, or another program has typed them. */
  leaveItems(): void {
    this.#isLeft = true;
  }

  /** Starts typing a file of items; a fault comes out of `finish`. One that may become void is typed on its own. */
  addItems(landed: LandedItems, { mayBecomeVoid = false } = {}): void {
    if (this.#isLeft) return;
    this.#waitingBytes += landed.bytes;
    const [before] = this.#small;
    if (mayBecomeVoid || (before !== undefined && !areAlike(before, landed))) this.#closeBatch();
    this.#small.push(landed);
    const bytes = this.#small.reduce((sum, file) => sum + file.bytes, 0);
    if (mayBecomeVoid || bytes >= BATCH_BYTES) this.#closeBatch();
  }

  /** Resolves when few enough landed bytes wait to be typed: code that lands more asks first. */
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
    const typed = (await Promise.all(this.#typed)).flat();
    const isValid = (paths: string[]) => !paths.some((path) => this.#void.has(path));
    const fault = this.#faults.find(({ paths }) => isValid(paths));
    if (fault !== undefined) throw fault.error;
    return typed.filter(({ sources }) => isValid(sources));
  }

  /** Values of items that no row of an export showed, as far as they were looked at. */
  listAbsent(): ItemValue[] {
    return listAbsent(this.#observed.export, this.#mapping);
  }

  /** Types a landed file of changes. */
  async typeChanges({ path, rows, origin }: LandedChanges): Promise<TypedFile> {
    await observeRows([path], (row) => this.#look(CHANGE_ANSWERS[origin], row));
    const landed = await quoteFile(path, '', this.#run.workFolder);
    return this.#typeApart({ origin, sources: [{ path, landed, rows }], ...this.#run });
  }

  /** Types a file of items that is none of the run's own. */
  async typeApart(landed: LandedItems): Promise<TypedFile> {
    return this.#typeApart(await this.#prepare([landed]));
  }

  async #typeApart(task: TypingTask): Promise<TypedFile> {
    const [typed] = await this.#inTurn(() => typeFiles(this.#db, task));
    return typed as TypedFile;
  }

  #inTurn<T>(work: () => Promise<T>): Promise<T> {
    const done = this.#work.then(work);
    this.#work = settle(done);
    return done;
  }

  #closeBatch(): void {
    if (this.#small.length === 0) return;
    const files = this.#small;
    this.#small = [];
    // Looked at one after the other: a batch knows what those before it showed.
    const prepared = this.#prepared.then(() => this.#prepare(files));
    this.#prepared = settle(prepared);
    this.#typed.push(this.#typeBatch(files, prepared));
  }

  /** Nothing where it fails: the fault counts if the files do. */
  async #typeBatch(files: LandedItems[], prepared: Promise<TypingTask>): Promise<TypedFile[]> {
    const bytes = files.reduce((sum, file) => sum + file.bytes, 0);
    try {
      const task = await prepared;
      this.#db.throwIfStopped();
      const type = () => typeFiles(this.#db, task);
      return await (bytes < BATCH_BYTES ? this.#inTurn(type) : this.#db.inLane(type));
    } catch (error) {
      this.#faults.push({ error, paths: files.map(({ path }) => path) });
      return [];
    } finally {
      this.#waitingBytes -= bytes;
      for (const wake of this.#waiters.splice(0)) wake();
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
    const { workFolder } = this.#run;
    if (!isCsv(first.path)) await observeLines(files, look);
    const sources: TypingSource[] = [];
    for (const file of files) {
      this.#db.throwIfStopped();
      const { path, readAt, rows } = file;
      const landed = isCsv(path) ? await readCsvFile(file, look) : await quoteFile(path, readAt, workFolder);
      sources.push({ path, landed, rows });
    }
    const shape = detectShape(observed, isCsv(first.path) ? 'csv' : 'json', mapping);
    const isBySite = files.every(({ isOfOneSite }) => isOfOneSite === true);
    const isId = (name: string) => isItemId(name, mapping);
    return { origin, sources: sources as [TypingSource, ...TypingSource[]], shape, isBySite, isId, ...this.#run };
  }
}

/** Resolves when the work ends, whatever comes of it. */
function settle(work: Promise<unknown>): Promise<void> {
  return work.then(
    () => {},
    () => {},
  );
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
