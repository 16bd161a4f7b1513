import { type Assertion, isSameValue, isSetByChange, listChanged, listRead } from './asserted-values.js';
import { type ItemFacts, type Row, toText } from './item-facts.js';
import type { LandedRows } from './landed-rows.js';

/** A value and its origin. */
export interface ExplainedValue {
  column: string;
  /** The value as text, or null. */
  value: string | null;
  how: 'change' | 'read' | 'computed' | 'unknown';
  /** The change or the read that set the value; undefined if the value is computed or its origin is unknown. */
  by: Assertion | undefined;
  /** A sentence about how the value was computed, or about why its origin is unknown. */
  note: string | undefined;
}

/** The columns of items that pricelake computes, and the source of each column. */
const COMPUTED: Record<string, string> = {
  gtin14: 'gtin, if its check digit is right',
  product_id: 'gtin, else brand and mpn',
  is_listed: 'removed_at and gone_at: true while both are null',
  gone_at: "a complete copy or a read of the item that didn't return it",
  extra: "fields that the API document doesn't define",
  read_at: "this machine's clock when the row was last read in full",
  change_id: 'the last change that was applied to the row after the last full read',
  run_id: 'the run that wrote the row',
};

export const compute = (column: string, row: Row, note: string): ExplainedValue => {
  return { column, value: toText(row[column]), how: 'computed', by: undefined, note: `computed from ${note}` };
};

/** Explains where a value in an item's row comes from, given the item's changes and downloaded rows. */
export function explainItem(column: string, { item, changes, landed }: ItemFacts): ExplainedValue {
  if (column in COMPUTED) return compute(column, item, COMPUTED[column] as string);
  const value = toText(item[column]);
  const reads = listRead(column, landed.rows);
  const base = findBase(item, reads);
  const applied = toText(item.change_id);
  // Ignores later changes, which haven't been applied to the row yet.
  const changed = listChanged(column, changes, landed.rows).filter(({ change }) => {
    return applied !== null && change?.id != null && BigInt(change.id) <= BigInt(applied);
  });
  const last = changed.filter((one) => isSameValue(one.value, value)).at(-1);
  const isOfRead = base !== undefined && isSameValue(base.value, value);
  if (isSetByChange(column) && last !== undefined && isAfter(last, base, item, isOfRead)) {
    return { column, value, how: 'change', by: last, note: noteMissing(last, landed) };
  }
  if (isOfRead) return { column, value, how: 'read', by: base, note: undefined };
  if (base !== undefined) return explainDifferent(column, item, base);
  const readAt = toText(item.read_at);
  if (readAt === null) {
    const note = 'the row comes only from the feed, and no change contains this value';
    return { column, value, how: 'unknown', by: undefined, note };
  }
  const also = last?.change?.id == null ? '' : `; change ${last.change.id} set the same value`;
  const note = `the row was read in full at ${readAt}, by a run whose downloads are no longer kept here (landing.keep)${also}`;
  return { column, value, how: 'read', by: undefined, note };
}

/** Lists the changes and reads that set the column, newest first, except the one that explains the value. */
export function listOthers(column: string, { by }: ExplainedValue, { changes, landed }: ItemFacts): Assertion[] {
  const isSame = (one: Assertion) =>
    one.kind === by?.kind && one.change?.id === by.change?.id && one.place?.file === by.place?.file;
  const at = (one: Assertion) => one.observedAt ?? one.readAt ?? '';
  return [...listChanged(column, changes, landed.rows), ...listRead(column, landed.rows)]
    .filter((one) => !isSame(one))
    .sort((a, b) => b.runId.localeCompare(a.runId) || at(b).localeCompare(at(a)));
}

/** True if a change was applied after the item was read. Without the read's downloaded files, compares times. */
function isAfter(change: Assertion, base: Assertion | undefined, row: Row, isOfRead: boolean): boolean {
  if (base !== undefined) return base.runId < change.runId || !isOfRead;
  const readAt = toText(row.read_at);
  return readAt === null || Date.parse(readAt) < beginOf(change.runId);
}

/** Returns the start time of a run, in milliseconds since 1970, from an id such as `000041-20261122T080000Z`. */
function beginOf(runId: string): number {
  const [, day = '', time = ''] = /-(\d{8})T(\d{6})Z$/u.exec(runId) ?? [];
  const dashed = day.replace(/(\d{4})(\d{2})/u, '$1-$2-');
  return Date.parse(`${dashed}T${time.replaceAll(/(\d{2})(?=\d)/gu, '$1:')}Z`);
}

/** Explains a value that differs from the downloaded text, because of a conversion or a later change. */
function explainDifferent(column: string, row: Row, base: Assertion): ExplainedValue {
  const value = toText(row[column]);
  const note = `the downloaded text was converted exactly (pipelines/models/items.sql)${isSetByChange(column) ? ', or a later change set the value' : ''}`;
  return { column, value, how: 'read', by: base, note };
}

/** Finds the read that returned the row: the read at the row's `read_at` or, without one, the last earlier read. */
function findBase(row: Row, reads: readonly Assertion[]): Assertion | undefined {
  const readAt = Date.parse(toText(row.read_at) ?? '');
  const ofTime = reads.filter((one) => Date.parse(one.readAt ?? '') === readAt);
  return ofTime.at(-1) ?? reads.filter((one) => Date.parse(one.readAt ?? '') < readAt).at(-1);
}

export function noteMissing({ place, runId }: Assertion, { kept }: LandedRows): string | undefined {
  if (place !== undefined) return undefined;
  if (kept.has(runId)) return `the downloads of run ${runId} have no line with this change`;
  return `the downloads of run ${runId} are no longer kept here (landing.keep)`;
}
