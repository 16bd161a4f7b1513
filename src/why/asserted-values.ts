import { ITEM_VALUES, type ItemPath } from '../tables/item-names.js';
import { type Row, toText } from './item-facts.js';
import type { LandedRow } from './landed-rows.js';

/** The origin of a value: a change that set it, or a full read of the item that contained it. */
export interface Assertion {
  kind: 'change' | 'read';
  /** The value as text; null if the field was set to null. */
  value: string | null;
  runId: string;
  /** The time of the change by the service's clock; undefined for a read. */
  observedAt: string | undefined;
  /** The time of the read by this machine's clock; undefined if it is unknown. */
  readAt: string | undefined;
  change: { id: string | null; kind: string; origin: string } | undefined;
  /** The line in a downloaded file; undefined if the file is no longer kept. */
  place: { file: string; line: number } | undefined;
  /** The text that the service sent. */
  raw: string | undefined;
}

/** Reads the value that a change sets in a column. Returns undefined if the change doesn't set the column. */
type ReadSet = (row: Row) => string | null | undefined;
const onKinds = (kinds: readonly string[], read: ReadSet): ReadSet => {
  return (row) => (kinds.includes(String(row.kind)) ? read(row) : undefined);
};
const observed: ReadSet = (row) => toText(row.observed_at);
const onPrice =
  (read: ReadSet): ReadSet =>
  (row) =>
    row.is_price_change === true ? read(row) : undefined;

/** The columns that changes can set (pipelines/models/apply.sql), with the value's path in a change, and its reader. */
const SET_BY_CHANGES: Record<string, { path: string; read: ReadSet }> = {
  title: { path: 'changes.title', read: (row) => (row.is_title_change === true ? toText(row.title) : undefined) },
  price: {
    path: 'price',
    read: (row) =>
      row.is_price_change === true || ['NEW', 'RELISTED'].includes(String(row.kind)) ? toText(row.price) : undefined,
  },
  previous_price: { path: 'previousPrice', read: onPrice((row) => toText(row.previous_price)) },
  price_changed_at: { path: 'observedAt', read: onPrice(observed) },
  removed_at: {
    path: 'observedAt',
    read: onKinds(['NEW', 'REMOVED', 'RELISTED'], (row) => (row.kind === 'REMOVED' ? observed(row) : null)),
  },
  last_seen_at: { path: 'observedAt', read: onKinds(['NEW', 'CHANGED', 'RELISTED'], observed) },
  last_changed_at: { path: 'observedAt', read: onKinds(['NEW', 'CHANGED'], observed) },
};

/** True if a change can set the column after a full read of the item. */
export const isSetByChange = (column: string): boolean => column in SET_BY_CHANGES;

const PATH_OF = new Map<string, ItemPath>(
  Object.entries(ITEM_VALUES).map(([path, column]) => [column === 'id' ? 'item_id' : column, path as ItemPath]),
);

/** Returns the API field from which a column of items is taken; undefined for a computed column. */
export const pathOf = (column: string): ItemPath | undefined => PATH_OF.get(column);

/** Lists the changes that set a column, oldest first. A change that a comparison found isn't in any downloaded file. */
export function listChanged(column: string, changes: readonly Row[], landed: readonly LandedRow[]): Assertion[] {
  const setter = SET_BY_CHANGES[column];
  if (setter === undefined) return [];
  return changes.flatMap((row) => {
    const value = setter.read(row);
    if (value === undefined) return [];
    return [describeChange(row, value, setter.path, landed)];
  });
}

/** Describes a change that set a value. Adds its downloaded line if the files of the change's run are kept. */
export function describeChange(row: Row, value: string | null, path: string, landed: readonly LandedRow[]): Assertion {
  const id = toText(row.change_id);
  const runId = String(row.run_id);
  const line = landed.find((one) => one.kind === 'change' && one.runId === runId && one.says('id') === id);
  return {
    kind: 'change',
    value,
    runId,
    observedAt: toText(row.observed_at) ?? undefined,
    readAt: line?.readAt,
    change: { id, kind: String(row.kind), origin: String(row.origin) },
    place: line && { file: line.file, line: line.line },
    raw: line?.raw(path),
  };
}

/** Lists the full reads that contained a column's value, oldest first. */
export function listRead(column: string, landed: readonly LandedRow[]): Assertion[] {
  const path = pathOf(column);
  if (path === undefined) return [];
  return landed
    .filter(({ kind }) => kind === 'read')
    .map(({ runId, readAt, file, line, raw, says }) => ({
      ...({ kind: 'read', value: says(path), runId } as const),
      ...{ observedAt: undefined, readAt, change: undefined, place: { file, line }, raw: raw(path) },
    }));
}

/** True if two strings mean the same, such as `10.50` and `10.5000`, or times that differ only in zeros at the end. */
export function isSameValue(a: string | null, b: string | null): boolean {
  return normalize(a) === normalize(b);
}

function normalize(value: string | null): string | null {
  if (value === null) return null;
  if (/^-?\d+\.\d*$/u.test(value)) return value.replace(/\.?0*$/u, '');
  const [, seconds, fraction = ''] =
    /^(\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2})(?:\.(\d*?)0*)?(?:Z|\+00:00)$/u.exec(value) ?? [];
  if (seconds !== undefined) return `${seconds}.${fraction}`;
  return value;
}
