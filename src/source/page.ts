import { findField, parseInt64, readFields, readInt64, type Slice, showValue } from '../formats/json-scan.js';
import { PricelakeError } from '../io/errors.js';

/** The envelope of a feed page (API §2, ChangePage). */
export interface FeedPage {
  changes: Slice[];
  /** The id of the newest change on the page, or the request's cursor if the page is empty. */
  shown: bigint;
  /** The number of changes with a readable id. */
  readable: number;
  hasMore: boolean;
  nextCursor: bigint;
}

/** The envelope of a products page (API §2, PageDtoProduct). */
export interface ProductPage {
  rows: Slice[];
  totalElements: bigint;
  totalPages: number;
}

/** The envelope of an items page (API §2, PageDtoItem). */
export interface ItemPage extends ProductPage {
  /** The item ids, in the order of `rows`. */
  ids: bigint[];
}

/** Reads the envelope of a ChangePage, without its changes. @throws PricelakeError `contract` if invalid */
export function readFeedPage(body: Buffer, after: bigint): FeedPage {
  return readPage(body, `/changes?after=${after}`, (fields) => {
    const changes = requiredElements(fields, 'changes');
    const hasMore = readBoolean(body, required(fields, 'hasMore'));
    const seen = readIds(body, changes, after);
    const nextCursor = readNextCursor(body, fields.get('nextCursor'), hasMore ? undefined : seen.shown);
    const page = { changes, ...seen, hasMore, nextCursor };
    if (page.nextCursor < after) throw new SyntaxError(`nextCursor ${page.nextCursor} is before the cursor ${after}`);
    if (page.nextCursor < page.shown)
      throw new SyntaxError(`nextCursor ${page.nextCursor} is before change ${page.shown} of the page`);
    if (page.hasMore && page.nextCursor === after)
      throw new SyntaxError("hasMore is true, but nextCursor doesn't advance");
    return page;
  });
}

/**
 * Reads the next cursor. The API document doesn't define the cursor of a feed's last page, which may be null, 0 or
 * missing. For such a cursor, returns `end`.
 * @param end the id of the last change on the feed's last page; undefined for other pages
 */
function readNextCursor(body: Buffer, field: Slice | undefined, end: bigint | undefined): bigint {
  const text = field === undefined ? undefined : showValue(body, field);
  if (end !== undefined && (text === undefined || text === 'null' || text === '0')) return end;
  const cursor = field === undefined ? undefined : parseInt64(body, field);
  if (cursor !== undefined) return cursor;
  throw new SyntaxError(
    `${end === undefined ? 'hasMore is true, but ' : ''}nextCursor is ${text ?? 'missing'}, not a 64-bit integer`,
  );
}

/**
 * Reads the ids on a page. They must be greater than the cursor and increase (API §2, Change). Skips unreadable ids. A
 * later step rejects changes with such ids.
 */
function readIds(body: Buffer, changes: readonly Slice[], after: bigint): Pick<FeedPage, 'shown' | 'readable'> {
  let shown = after;
  let readable = 0;
  for (const slice of changes) {
    const id = readChangeId(body, slice);
    if (id === undefined) continue;
    if (id <= shown) throw new SyntaxError(`change ${id} comes after ${shown}, but ids must increase`);
    shown = id;
    readable += 1;
  }
  return { shown, readable };
}

/** Reads the id of the change at `slice`, or returns undefined if the id is unreadable. */
export function readChangeId(body: Buffer, { start }: Pick<Slice, 'start'>): bigint | undefined {
  const field = findField(body, start, (name) => name === 'id');
  return field === undefined ? undefined : parseInt64(body, field);
}

/**
 * True if a change names its item. The service omits an item that has left the caller's data (API §2, Change).
 * @throws SyntaxError if there is no object at `change`
 */
export function hasItem(body: Buffer, change: Pick<Slice, 'start'>): boolean {
  const item = findField(body, change.start, (name) => name === 'item');
  return item !== undefined && body.toString('latin1', item.start, item.end) !== 'null';
}

/** Reads the envelope of a PageDtoItem and the ids of its items. @throws PricelakeError `contract` if invalid */
export function readItemPage(body: Buffer, path: string): ItemPage {
  return readPage(body, path, (fields) => {
    const page = readList(body, fields);
    return { ...page, ids: page.rows.map((slice) => readItemId(body, slice)) };
  });
}

/** Reads the envelope of a PageDtoProduct, without its products. @throws PricelakeError `contract` if invalid */
export function readProductPage(body: Buffer, path: string): ProductPage {
  return readPage(body, path, (fields) => readList(body, fields));
}

function readList(body: Buffer, fields: Map<string, Slice>): ProductPage {
  return {
    rows: requiredElements(fields, 'content'),
    totalElements: readInt64(body, required(fields, 'totalElements')),
    totalPages: Number(readInt64(body, required(fields, 'totalPages'))),
  };
}

/** Reads the id of the item at `slice`. @throws SyntaxError if it is missing or isn't an int64 */
export function readItemId(body: Buffer, slice: Slice): bigint {
  const id = findField(body, slice.start, (name) => name === 'id');
  if (id === undefined) throw new SyntaxError(`the item at byte ${slice.start} has no "id"`);
  return readInt64(body, id);
}

/** Reads when the item at `slice` last changed, or returns undefined if it has no readable date. */
export function readLastChanged(body: Buffer, slice: Slice): string | undefined {
  const field = findField(body, slice.start, (name) => name === 'lastChangedAt');
  const value: unknown = field === undefined ? undefined : JSON.parse(body.toString('utf8', field.start, field.end));
  return typeof value === 'string' && !Number.isNaN(Date.parse(value)) ? value : undefined;
}

function readPage<T>(body: Buffer, path: string, read: (fields: Map<string, Slice>) => T): T {
  try {
    return read(readFields(body));
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    const start = body.toString('utf8', 0, 80).replaceAll(/\s+/g, ' ');
    throw new PricelakeError(
      'contract',
      `${path}: the response doesn't match the page format in the API document: ${error.message}; it starts with: ${start}`,
      { hint: 'Check source.baseUrl, and that no proxy rewrites responses.' },
      { cause: error },
    );
  }
}

function requiredElements(fields: Map<string, Slice>, name: string): Slice[] {
  const { elements } = required(fields, name);
  if (elements === undefined) throw new SyntaxError(`"${name}" is not an array`);
  return elements;
}

function required(fields: Map<string, Slice>, name: string): Slice {
  const slice = fields.get(name);
  if (slice === undefined) throw new SyntaxError(`"${name}" is missing`);
  return slice;
}

function readBoolean(body: Buffer, slice: Slice): boolean {
  const text = body.toString('latin1', slice.start, slice.end);
  if (text !== 'true' && text !== 'false') {
    throw new SyntaxError(`${showValue(body, slice)} at byte ${slice.start} is not a boolean`);
  }
  return text === 'true';
}
