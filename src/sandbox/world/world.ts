import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { makeScratchFolder } from '../../io/scratch-folder.js';
import type { Category } from '../catalog/categories.js';
import type { DatasetEntry } from '../catalog/datasets.js';
import type { ScrapedSource } from '../catalog/shops.js';
import { createReadingMacros, Readings } from '../readings/readings.js';
import { ChangeFeed } from './change-feed.js';
import { CREATE_CSV_MACROS, type ExportShape, type RowStyle } from './export-rows.js';
import { ItemView } from './item-view.js';
import { CREATE_PAST_MACRO, itemsAt, type Moment } from './past-sql.js';
import type { RowFile, RowFormat } from './row-file.js';
import { CREATE_MACROS, CREATE_TABLES } from './schema-sql.js';
import { CREATE_PRICE_MACROS } from './step-sql.js';
import { type SqlValues, WorldDatabase, type WorldSession } from './world-database.js';

/** The maximum number of cached results of `World.find`. Clients that read page by page repeat a query. */
const KEPT_FINDS = 16;

/** Adds listings: from the catalog if the data is generated, or as clones of loaded listings. */
type NewItems = (session: WorldSession, batch: NewItemBatch) => Promise<void>;

export interface NewItemBatch {
  /** The numbers of the new items, from `from` to below `to`. */
  from: number;
  to: number;
  /**
   * The items are first seen in a period of `span` microseconds that starts at this time (in microseconds since 1970).
   */
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
  /** Fields of the user's items that the API document doesn't define. */
  extraFields: string[];
  insertNewItems: NewItems;
}

/** The simulated shops, their items and all changes, which the service reads. */
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
  version = 0;
  /** The time up to which the tables are complete, in milliseconds since 1970. */
  livedUntil = 0;
  /** The time since which earlier versions of rows are kept, in microseconds since 1970; null if they aren't kept. */
  #pastFrom: number | null = null;

  /** Deletes the folder when the process exits, if the world was not closed. */
  readonly #removeFiles = () => rmSync(this.directory, { recursive: true, force: true });

  private constructor(directory: string, database: WorldDatabase, readings: Readings, exportShape: ExportShape | null) {
    process.once('exit', this.#removeFiles);
    this.directory = directory;
    this.database = database;
    this.readings = readings;
    this.#exportShape = exportShape;
    this.feed = new ChangeFeed(join(directory, 'changes.json'));
  }

  /** Creates a world in a new temporary folder, which `close` deletes. */
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

  /** Returns the row numbers that a query finds. Results are cached until the next step, so that paging is cheap. */
  find(sql: string, values: SqlValues): Promise<Uint32Array> {
    const key = [sql, ...Object.entries(values).flat()].join('\0');
    let found = this.#finds.get(key);
    if (found === undefined) {
      found = this.database.use((session) => session.integers(sql, values));
      found.catch(() => this.#finds.delete(key));
    }
    // Moves the result to the end, so that the first result in the map is the least recently used.
    this.#finds.delete(key);
    this.#finds.set(key, found);
    const oldest = this.#finds.keys().next();
    if (this.#finds.size > KEPT_FINDS && !oldest.done) this.#finds.delete(oldest.value);
    return found;
  }

  async countItems(session: WorldSession): Promise<void> {
    this.itemCount = Number((await session.row('SELECT count(*) AS items FROM items'))?.items);
  }

  /** Returns the view that all callers with these datasets share. */
  view(datasets: readonly DatasetEntry[]): ItemView {
    const view = new ItemView(this.directory, datasets, () => this.rowStyle);
    const known = this.#views.get(view.mask);
    if (known !== undefined) return known;
    this.#views.set(view.mask, view);
    return view;
  }

  /** Returns a file that contains at least the rows below `upTo`. Renders missing rows first. */
  async rows(view: ItemView, format: RowFormat, upTo = this.itemCount): Promise<RowFile> {
    const wanted = Math.min(upTo, this.itemCount);
    const ready = view.rows(format, wanted, this.version);
    return ready ?? this.database.use((session) => view.render(session, format, wanted, this.version));
  }

  /** True if earlier versions of rows are kept. Keeping them takes time, so this is false unless responses may lag. */
  get keepsPast(): boolean {
    return this.#pastFrom !== null;
  }

  /**
   * Starts keeping earlier versions of rows. Returns the earliest time whose data a response can show, in microseconds
   * since 1970.
   * @param quietSince a time since which nothing has changed
   */
  keepPast(quietSince = this.livedUntil * 1000): number {
    this.#pastFrom ??= quietSince;
    return this.#pastFrom;
  }

  /**
   * Calls `use` with a file of JSON rows. For a past moment, renders a temporary file.
   * @param rows item numbers, in ascending order unless the moment is null
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

  /** Renders rows of a past moment to a file, which the caller must close. */
  renderPast(view: ItemView, format: RowFormat, moment: number, rows: Uint32Array): Promise<RowFile> {
    return this.database.use((session) => view.renderAside(session, format, itemsAt(moment), rows));
  }

  /** Ends a step. Rows are rendered later, when a response needs them, which saves disk space. */
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
