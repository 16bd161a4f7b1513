import { findFirstAbove, NumberColumn } from './number-column.js';
import { RowFile } from './row-file.js';

/** The number that stands for an item that is no longer in the data. */
const NO_ITEM = 0xffff_ffff;

export type FeedColumns = [bigint[], bigint[], ...(number | null)[][]];

export interface FeedPage {
  rows: number[];
  hasMore: boolean;
}

interface FeedQuery {
  mask: number;
  /** The start of the visible history, in microseconds since 1970. */
  since: number;
  /** The time after which changes are not visible yet, in microseconds since 1970. */
  until: number;
  limit: number;
  matches?: (kind: number, move: number) => boolean;
}

/** All changes in the order of their ids, which is also their order in time. */
export class ChangeFeed {
  readonly rows: RowFile;
  readonly #ids = new NumberColumn(new BigInt64Array(1024));
  readonly #times = new NumberColumn(new Float64Array(1024));
  readonly #items = new NumberColumn(new Uint32Array(1024));
  readonly #masks = new NumberColumn(new Uint32Array(1024));
  readonly #kinds = new NumberColumn(new Int8Array(1024));
  readonly #moves = new NumberColumn(new Int8Array(1024));

  constructor(path: string) {
    this.rows = new RowFile(path, 'json');
  }

  get length(): number {
    return this.#ids.length;
  }

  id(row: number): bigint {
    return this.#ids.values[row] as bigint;
  }

  /**
   * Adds changes whose JSON is already in `rows`. The columns are ids, times in microseconds since 1970, item numbers
   * or null, masks, kinds, and price moves (-1, 0 or 1).
   */
  append([ids, ...columns]: FeedColumns): void {
    const targets = [this.#times, this.#items, this.#masks, this.#kinds, this.#moves];
    for (const [k, id] of ids.entries()) {
      for (const [c, target] of targets.entries()) target.push(Number(columns[c]?.[k] ?? NO_ITEM));
      this.#ids.push(id);
    }
  }

  /** True if any change after the cursor is older than `since`, in microseconds since 1970. */
  hasBetween(after: bigint, since: number): boolean {
    return findFirstAbove(this.#ids.values, this.length, after) < this.#firstLaterThan(since);
  }

  /** Returns changes after the cursor, oldest first. */
  readForward(after: bigint, query: FeedQuery): FeedPage {
    const end = this.#firstLaterThan(query.until);
    let row = Math.max(findFirstAbove(this.#ids.values, this.length, after), this.#firstLaterThan(query.since));
    const rows: number[] = [];
    for (; row < end && rows.length < query.limit; row++) if (this.#isMatch(row, query)) rows.push(row);
    while (row < end && !this.#isMatch(row, query)) row++;
    return { rows, hasMore: row < end };
  }

  /** Returns changes before the given id, newest first. If `before` is null, starts with the newest change. */
  readBackward(before: bigint | null, query: FeedQuery): FeedPage {
    const start = this.#firstLaterThan(query.since);
    const bound = before === null ? this.length : findFirstAbove(this.#ids.values, this.length, before - 1n);
    let row = Math.min(bound, this.#firstLaterThan(query.until)) - 1;
    const rows: number[] = [];
    for (; row >= start && rows.length < query.limit; row--) if (this.#isMatch(row, query)) rows.push(row);
    while (row >= start && !this.#isMatch(row, query)) row--;
    return { rows, hasMore: row >= start };
  }

  /** Returns the changes of an item, oldest first. */
  ofItem(item: number, since: number, until: number): number[] {
    const end = this.#firstLaterThan(until);
    const rows: number[] = [];
    for (let row = this.#items.values.indexOf(item, this.#firstLaterThan(since)); row >= 0 && row < end; ) {
      rows.push(row);
      row = this.#items.values.indexOf(item, row + 1);
    }
    return rows;
  }

  #isMatch(row: number, query: FeedQuery): boolean {
    if (((this.#masks.values[row] as number) & query.mask) === 0) return false;
    return query.matches?.(this.#kinds.values[row] as number, this.#moves.values[row] as number) ?? true;
  }

  #firstLaterThan(micros: number): number {
    return findFirstAbove(this.#times.values, this.length, micros);
  }
}
