import { rmSync } from 'node:fs';
import { join } from 'node:path';
import type { Category } from '../catalogue/categories.js';
import type { DatasetEntry } from '../catalogue/datasets.js';
import type { ShopSource } from '../catalogue/shops.js';
import { createReadingMacros, Readings } from '../readings/readings.js';
import { ChangeFeed } from './change-feed.js';
import { CREATE_CSV_MACROS, type ExportShape, type RowStyle } from './export-rows.js';
import { ItemView } from './item-view.js';
import { findFirstAbove, NumberColumn } from './number-column.js';
import { CREATE_PAST_MACRO, itemsAt, type Moment } from './past-sql.js';
import type { RowFile, RowFormat } from './row-file.js';
import { CREATE_MACROS, CREATE_TABLES } from './schema-sql.js';
import { CREATE_PRICE_MACROS } from './step-sql.js';
import { makeScratchFolder, WorldDatabase, type WorldSession } from './world-database.js';

/** Makes new listings: generated worlds know their catalogue, loaded ones clone what they have. */
type NewItems = (session: WorldSession, batch: NewItemBatch) => Promise<void>;

export interface NewItemBatch {
  /** Numbers of the new items: from (inclusive) to (exclusive). */
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
  sources: ShopSource[];
  /** Fields of the user's items that the document does not know. */
  extraFields: string[];
  insertNewItems: NewItems;
}

/** The shops, their items and all that ever changed: the service reads from here. */
export class World {
  readonly database: WorldDatabase;
  readonly directory: string;
  readonly feed: ChangeFeed;
  readonly readings: Readings;
  readonly #exportShape: ExportShape | null;
  readonly #views = new Map<number, ItemView>();
  readonly #ids = new NumberColumn(new BigInt64Array(1024));
  readonly #masks = new NumberColumn(new Uint32Array(1024));
  facts!: WorldFacts;
  /** Steps so far; a cached answer is good for one version. */
  version = 0;
  /** Milliseconds since 1970: the tables have all that happened up to here. */
  livedUntil = 0;
  /** Micros since 1970: earlier versions of rows are kept from here on; null while no answer lags. */
  #pastFrom: number | null = null;

  /** A process that ends without closing its worlds leaves nothing behind either. */
  readonly #removeFiles = () => rmSync(this.directory, { recursive: true, force: true });

  private constructor(directory: string, database: WorldDatabase, readings: Readings, exportShape: ExportShape | null) {
    process.once('exit', this.#removeFiles);
    this.directory = directory;
    this.database = database;
    this.readings = readings;
    this.#exportShape = exportShape;
    this.feed = new ChangeFeed(join(directory, 'changes.json'));
  }

  /** In a fresh temporary folder, which `close` removes. */
  static async create(readings = new Readings(), exportShape: ExportShape | null = null): Promise<World> {
    const directory = await makeScratchFolder();
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

  get itemCount(): number {
    return this.#ids.length;
  }

  /** Returns -1 if the caller can't see the item. */
  findItem(id: bigint, mask: number): number {
    const n = findFirstAbove(this.#ids.values, this.#ids.length, id) - 1;
    const isVisible = n >= 0 && this.#ids.values[n] === id && ((this.#masks.values[n] as number) & mask) !== 0;
    return isVisible ? n : -1;
  }

  lastItemId(): bigint {
    return this.#ids.values[this.#ids.length - 1] ?? 0n;
  }

  /** Reads the ids of the items that a step added. */
  async noteItems(session: WorldSession): Promise<void> {
    const sql = 'SELECT item_id, mask FROM items WHERE n >= $from::INTEGER ORDER BY n';
    await session.eachChunk(sql, { from: this.itemCount }, (chunk) => {
      const ids = chunk.getColumnValues(0) as bigint[];
      const masks = chunk.getColumnValues(1) as number[];
      for (let k = 0; k < ids.length; k++) {
        this.#masks.push(masks[k] as number);
        this.#ids.push(ids[k] as bigint);
      }
    });
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

  /** Only while answers lag, because it costs time. */
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
   * The file of any moment but now is made for this answer.
   * @param rows numbers of items, ascending unless the moment is now
   */
  async readRows<T>(
    view: ItemView,
    format: RowFormat,
    moment: Moment,
    rows: Uint32Array,
    use: (file: RowFile) => T,
  ): Promise<T> {
    if (moment === null) return use(await this.rows(view, format));
    const file = await this.renderPast(view, format, moment, rows);
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

  /** Renders JSON at once, and CSV when somebody asks for it again. */
  async publishStep(session: WorldSession, step: number): Promise<void> {
    for (const view of this.#views.values()) {
      if (view.has('json')) await view.render(session, 'json', this.itemCount, step);
    }
    this.version = step;
  }

  async close(): Promise<void> {
    await this.database.close();
    for (const view of this.#views.values()) view.close();
    this.feed.rows.close();
    this.#removeFiles();
    process.off('exit', this.#removeFiles);
  }
}
