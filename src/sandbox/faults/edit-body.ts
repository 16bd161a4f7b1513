import { LosslessNumber, parse, stringify } from 'lossless-json';
import type { FaultEffect } from './fault.js';

export type ExportFormat = 'ndjson' | 'csv';

/** Edits the rows of an export. Rows have no line ending and are numbered from 1. */
export interface RowEdit {
  header?: (line: string) => string;
  row(line: string, n: number): string[];
}

/** Returns the edit for a fault, or null if the fault doesn't change rows. */
export function chooseRowEdit(effect: FaultEffect, format: ExportFormat): RowEdit | null {
  const { kind, argument } = effect;
  if (kind === 'malformed') return { row: (line, n) => [n === argument ? cutRow(line, format) : line] };
  if (kind === 'duplicate') return { row: (line, n) => (n <= argument ? [line, line] : [line]) };
  if (kind !== 'unknown' && kind !== 'missing') return null;
  if (format === 'ndjson') return { row: (line) => [stringify(editValue(parse(line), effect)) as string] };
  if (kind === 'missing') return dropColumn(argument);
  return { header: (line) => `${line},${argument}`, row: (line) => [`${line},new`] };
}

function cutRow(line: string, format: ExportFormat): string {
  return format === 'csv' ? splitCells(line).slice(0, 3).join(',') : line.slice(0, Math.ceil(line.length * 0.6));
}

function dropColumn(name: string): RowEdit {
  let at = -1;
  const withoutColumn = (line: string) =>
    splitCells(line)
      .filter((_, index) => index !== at)
      .join(',');
  return {
    header(line) {
      at = splitCells(line).indexOf(name);
      return withoutColumn(line);
    },
    row: (line) => [withoutColumn(line)],
  };
}

/** Splits a CSV line into cells, which keep their quotes. */
function splitCells(line: string): string[] {
  return line.match(/(?<=^|,)(?:"(?:[^"]|"")*"|[^",]*)(?=,|$)/g) ?? [];
}

const NEWLINE = 0x0a;
const QUOTE = 0x22;

/** Splits a body into rows without line endings. In CSV, a line break inside quotes belongs to the row. */
export async function* readRows(body: ReadableStream<Uint8Array>, format: ExportFormat): AsyncGenerator<string> {
  let rest: Buffer = Buffer.alloc(0);
  for await (const chunk of body) {
    const bytes = Buffer.concat([rest, chunk]);
    let start = 0;
    let isQuoted = false;
    for (let at = 0; at < bytes.length; at++) {
      if (format === 'csv' && bytes[at] === QUOTE) isQuoted = !isQuoted;
      if (bytes[at] !== NEWLINE || isQuoted) continue;
      yield bytes.toString('utf8', start, at);
      start = at + 1;
    }
    rest = bytes.subarray(start);
  }
  if (rest.length > 0) yield rest.toString();
}

type JsonObject = Record<string, unknown>;

/** Applies faults to a JSON response. Numbers keep all their digits. */
export function editJson(text: string, effects: readonly FaultEffect[], url: URL): string {
  let edited = parse(text);
  for (const effect of effects) edited = editValue(edited, effect, url);
  const whole = stringify(edited) as string;
  return effects.some(({ kind }) => kind === 'malformed') ? whole.slice(0, Math.ceil(whole.length * 0.6)) : whole;
}

function editValue(value: unknown, { kind, argument }: FaultEffect, url?: URL): unknown {
  if (kind === 'duplicate') return doubleEntries(value, argument);
  if (kind === 'unknown') {
    for (const object of findObjects(value)) object[argument] = { is: ['new'] };
  }
  if (kind === 'missing') {
    for (const object of findObjects(value)) delete object[argument];
  }
  if (kind === 'stale-cursor' && isObject(value)) {
    const cursor = url?.searchParams.get('after') ?? url?.searchParams.get('before') ?? '0';
    Object.assign(value, { nextCursor: new LosslessNumber(cursor), hasMore: true });
  }
  return value;
}

function doubleEntries(value: unknown, count: number): unknown {
  if (Array.isArray(value)) return [...value.slice(0, count).flatMap((entry) => [entry, entry]), ...value.slice(count)];
  if (!isObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => [
      name,
      Array.isArray(member) ? doubleEntries(member, count) : member,
    ]),
  );
}

/** Lists the objects of a response: the top-level object or objects, and the objects in its lists. */
function findObjects(value: unknown): JsonObject[] {
  if (Array.isArray(value)) return value.filter(isObject);
  if (!isObject(value)) return [];
  return [value, ...Object.values(value).flatMap((member) => (Array.isArray(member) ? member.filter(isObject) : []))];
}

function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof LosslessNumber);
}
