import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { makeScratchFolder } from '../../io/scratch-folder.js';
import type { Category } from '../catalogue/categories.js';
import type { DatasetEntry } from '../catalogue/datasets.js';
import type { ScrapedSource } from '../catalogue/shops.js';
import { createReadingMacros, Readings } from '../readings/readings.js';
import { ChangeFeed } from './change-feed.js';
import { CREATE_CSV_MACROS, type ExportShape, type RowStyle } from './export-rows.js';
import { ItemView } from './item-view.js';
import { CREATE_PAST_MACRO, itemsAt, type Moment } from './past-sql.js';
import type { RowFile, RowFormat } from './row-file.js';
import { CREATE_MACROS, CREATE_TABLES } from './schema-sql.js';
import { CREATE_PRICE_MACROS } from './step-sql.js';
import { type SqlValues, WorldDatabase, type WorldSession } from './world-database.js';

/** Number of results of `World.find` that are kept, because a client that reads page by page repeats its query. */
const KEPT_FINDS = 16;

/** Makes new listings: generated worlds know their catalogue, loaded ones clone what they have. */
type NewItems = (session: WorldSession, batch: NewItemBatch) => Promise<void>;

export interface NewItemBatch {
  /** Numbers of the new items, from `from` (inclusive) to `to` (exclusive). */
  from: number;
  to: number;
  /** Micros since 1970: they are first seen within `span` from here on. */
  firstSeen: number;
  span: number;
  salt: number;
  step: number;
}

interface WorldFacts {
  seed: number;
  datasets: DatasetEntry[];
  categories: Category[];
  sources: ScrapedSource[];
  /** Fields of the user's items that the document does not know. */
  extraFields: string[];
  insertNewItems: NewItems;
}

/** The shops, their items and all changes, from which the service answers. */
export class World {
  readonly database: WorldDatabase;
  readonly directory: string;
  readonly feed: ChangeFeed;
  readonly readings: Readings;
  readonly #exportShape: ExportShape | null;
  readonly #views = new Map<number, ItemView>();
  readonly #finds = new Map<string, Promise<Uint32Array>>();
  facts!: WorldFacts;
  itemCount = 0;
  /** Number of steps so far. */
  version = 0;
  /** Milliseconds since 1970: the tables have all that happened up to here. */
  livedUntil = 0;
  /** Micros since 1970: earlier versions of rows are kept from here on; null while no answer lags. */
  #pastFrom: number | null = null;

  /** Removes the folders of worlds that were not closed when the process ends. */
  readonly #removeFiles = () => rmSync(this.directory, { recursive: true, force: true });

  private constructor(directory: string, database: WorldDatabase, readings: Readings, exportShape: ExportShape | null) {
    process.once('exit', this.#removeFiles);
    this.directory = directory;
    this.database = database;
    this.readings = readings;
    this.#exportShape = exportShape;
    this.feed = new ChangeFeed(join(directory, 'changes.json'));
  }

  /** Opens a world in a new temporary folder, which `close` removes. */
  static async create(readings = new Readings(), exportShape: ExportShape | null = null): Promise<World> {
    const directory = await makeScratchFolder('sandbox');
    const database = await WorldDatabase.open(directory);
    const world = new World(directory, database, readings, exportShape);
    await database.use((session) =>
      session.run(
        CREATE_TABLES +
          CREATE_MACROS +
          createReadingMacros(readings) +
          CREATE_PRICE_MACROS +
          CREATE_CSV_MACROS +
          CREATE_PAST_MACRO,
      ),
    );
    return world;
  }

  get rowStyle(): RowStyle {
    return {
      shape: this.#exportShape,
      extraFields: this.facts.extraFields,
      lineEnd: this.readings.get('csv.lines') === 'crlf' ? '\r\n' : '\n',
      lists: this.readings.get('csv.lists'),
    };
  }

  /** Numbers of the items that a query finds. They are kept until the next step, so that paging costs no query. */
  find(sql: string, values: SqlValues): Promise<Uint32Array> {
    const key = [sql, ...Object.entries(values).flat()].join('\0');
    let found = this.#finds.get(key);
    if (found === undefined) {
      found = this.database.use((session) => session.integers(sql, values));
      found.catch(() => this.#finds.delete(key));
    }
    // A result that is used again moves to the end, so the least recently used one is removed first.
    this.#finds.delete(key);
    this.#finds.set(key, found);
    const oldest = this.#finds.keys().next();
    if (this.#finds.size > KEPT_FINDS && !oldest.done) this.#finds.delete(oldest.value);
    return found;
  }

  async countItems(session: WorldSession): Promise<void> {
    this.itemCount = Number((await session.row('SELECT count(*) AS items FROM items'))?.items);
  }

  /** One view for callers with the same datasets. */
  view(datasets: readonly DatasetEntry[]): ItemView {
    const view = new ItemView(this.directory, datasets, () => this.rowStyle);
    const known = this.#views.get(view.mask);
    if (known !== undefined) return known;
    this.#views.set(view.mask, view);
    return view;
  }

  /** Rows of a view, at least those below `upTo`; rendered now if nobody asked before. */
  async rows(view: ItemView, format: RowFormat, upTo = this.itemCount): Promise<RowFile> {
    const wanted = Math.min(upTo, this.itemCount);
    const ready = view.rows(format, wanted, this.version);
    return ready ?? this.database.use((session) => view.render(session, format, wanted, this.version));
  }

  /** Keeps versions only while answers lag, because that takes time. */
  get keepsPast(): boolean {
    return this.#pastFrom !== null;
  }

  /**
   * Keeps rows from now on. Returns the earliest instant that an answer can show, in micros since 1970.
   * @param quietSince nothing happened since
   */
  keepPast(quietSince = this.livedUntil * 1000): number {
    this.#pastFrom ??= quietSince;
    return this.#pastFrom;
  }

  /**
   * Rows as JSON. The file of any moment but now is made for this answer.
   * @param rows numbers of items, ascending unless the moment is now
   */
  async readRows<T>(view: ItemView, moment: Moment, rows: Uint32Array, use: (file: RowFile) => T): Promise<T> {
    if (moment === null) return use(await this.rows(view, 'json'));
    const file = await this.renderPast(view, 'json', moment, rows);
    try {
      return use(file);
    } finally {
      file.close();
    }
  }

  /** The caller closes the file. */
  renderPast(view: ItemView, format: RowFormat, moment: number, rows: Uint32Array): Promise<RowFile> {
    return this.database.use((session) => view.renderAside(session, format, itemsAt(moment), rows));
  }

  /** Rows are rendered when an answer needs them, because rendering those of several steps at once takes less disk. */
  publishStep(step: number): void {
    this.version = step;
    this.#finds.clear();
  }

  async close(): Promise<void> {
    await this.database.close();
    for (const view of this.#views.values()) view.close();
    this.feed.rows.close();
    this.#removeFiles();
    process.off('exit', this.#removeFiles);
  }
}
