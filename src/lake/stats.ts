import type { Column, TableSchema } from '../tables/schemas.js';

/** A column's statistics as text, keyed by `min`, `max` and `null_count`. */
export type ColumnStatistics = ReadonlyMap<string, string>;

/** The maximum length of text in min and max, in code points. Other Delta writers use the same length. */
const PREFIX_LENGTH = 32;
export const BOUND_LENGTH = PREFIX_LENGTH + 1;

/**
 * Builds a file's statistics as JSON for Delta's log (Delta protocol, Per-file Statistics). Copies the digits of
 * integers and decimals, so ids above 2^53 stay exact. Rounded bounds include all values. Omits partition columns.
 */
export function writeStats(
  schema: TableSchema,
  partitionBy: readonly string[],
  rows: bigint,
  statistics: ReadonlyMap<string, ColumnStatistics>,
): string {
  const [mins, maxs, nulls]: [string[], string[], string[]] = [[], [], []];
  for (const column of schema.columns) {
    const found = partitionBy.includes(column.name) ? undefined : statistics.get(column.name);
    if (found === undefined) continue;
    const min = writeBound(column, found.get('min'), 'min');
    const max = writeBound(column, found.get('max'), 'max');
    const name = JSON.stringify(column.name);
    if (min !== undefined) mins.push(`${name}:${min}`);
    if (max !== undefined) maxs.push(`${name}:${max}`);
    const nullCount = found.get('null_count') ?? '';
    if (/^\d+$/.test(nullCount)) nulls.push(`${name}:${nullCount}`);
  }
  return `{"numRecords":${rows},"minValues":{${mins.join()}},"maxValues":{${maxs.join()}},"nullCount":{${nulls.join()}}}`;
}

function writeBound(column: Column, text: string | undefined, side: 'min' | 'max'): string | undefined {
  if (text === undefined) return undefined;
  switch (column.type) {
    case 'BIGINT':
      return /^-?\d+$/.test(text) ? text : undefined;
    case 'DECIMAL(18,4)':
      return /^-?\d+\.\d+$/.test(text) ? text : undefined;
    case 'DOUBLE':
      return text !== '' && Number.isFinite(Number(text)) ? JSON.stringify(Number(text)) : undefined;
    case 'DATE':
      return /^\d{4}-\d\d-\d\d$/.test(text) ? JSON.stringify(text) : undefined;
    case 'TIMESTAMP WITH TIME ZONE':
      return writeTime(text, side);
    case 'VARCHAR':
      return writeText(text, side);
    case 'BOOLEAN':
      return /^(?:true|false)$/.test(text) ? text : undefined;
    default:
      return undefined;
  }
}

/** Matches a UTC time in DuckDB's format. Delta's JSON can represent neither infinity nor years with five digits. */
const INSTANT = /^(\d{4}-\d\d-\d\d) (\d\d:\d\d:\d\d)(?:\.(\d{1,6}))?\+00$/;

/** Rounds a time to milliseconds as the protocol requires: minimums down and maximums up, so that no row is skipped. */
function writeTime(text: string, side: 'min' | 'max'): string | undefined {
  const match = INSTANT.exec(text);
  if (match === null) return undefined;
  const micros = (match[3] ?? '').padEnd(6, '0');
  const floor = Date.parse(`${match[1]}T${match[2]}.${micros.slice(0, 3)}Z`);
  const raised = side === 'max' && micros.slice(3) !== '000' ? floor + 1 : floor;
  return JSON.stringify(new Date(raised).toISOString());
}

function writeText(text: string, side: 'min' | 'max'): string | undefined {
  const points = [...text.slice(0, 2 * PREFIX_LENGTH + 2)];
  if (points.length <= PREFIX_LENGTH) return JSON.stringify(text);
  const prefix = points.slice(0, PREFIX_LENGTH);
  return side === 'min' ? JSON.stringify(prefix.join('')) : writeRaised(prefix);
}

/**
 * Returns a string that is greater than all strings with this prefix and not longer than it, or undefined if none exists.
 */
function writeRaised(prefix: string[]): string | undefined {
  const kept = [...prefix];
  for (let point = kept.pop(); point !== undefined; point = kept.pop()) {
    const last = point.codePointAt(0) as number;
    if (last === 0x10ffff) continue;
    // U+D800 to U+DFFF are surrogates, not characters, so they are skipped.
    const next = last === 0xd7ff ? 0xe000 : last + 1;
    return JSON.stringify(kept.join('') + String.fromCodePoint(next));
  }
  return undefined;
}
