import { LIMITS } from '../io/limits.js';

/**
 * Finds parts of JSON text without parsing the text into objects. Parsing a page would create thousands of objects, and
 * convert its numbers to doubles. DuckDB validates the values later, when it types the rows.
 */

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COLON = 0x3a;
const COMMA = 0x2c;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;
const OPEN_BRACKET = 0x5b;
const CLOSE_BRACKET = 0x5d;

/** The bytes of a value: from `start` up to, but not including, `end`. For an array, `readFields` adds its elements. */
export interface Slice {
  start: number;
  end: number;
  elements?: Slice[];
}

function fail(at: number): never {
  throw new SyntaxError(`not JSON at byte ${at}`);
}

function skipSpace(bytes: Buffer, at: number): number {
  let i = at;
  for (;;) {
    const byte = bytes[i];
    if (byte !== 0x20 && byte !== 0x0a && byte !== 0x0d && byte !== 0x09) return i;
    i++;
  }
}

/** Returns the index after the closing quote of a string. @param at the index of its opening quote */
function skipString(bytes: Buffer, at: number): number {
  for (let i = at + 1; i < bytes.length; i++) {
    const byte = bytes[i] as number;
    if (byte === BACKSLASH) i++;
    else if (byte === QUOTE) return i + 1;
  }
  return fail(at);
}

function skipContainer(bytes: Buffer, at: number): number {
  let depth = 0;
  for (let i = at; i < bytes.length; ) {
    const byte = bytes[i] as number;
    if (byte === QUOTE) {
      i = skipString(bytes, i);
      continue;
    }
    if (byte === OPEN_BRACE || byte === OPEN_BRACKET) depth++;
    else if (byte === CLOSE_BRACE || byte === CLOSE_BRACKET) {
      depth--;
      if (depth === 0) return i + 1;
    }
    i++;
  }
  return fail(at);
}

function skipScalar(bytes: Buffer, at: number): number {
  let i = at;
  for (; i < bytes.length; i++) {
    const byte = bytes[i] as number;
    if (byte === COMMA || byte === CLOSE_BRACE || byte === CLOSE_BRACKET || byte <= 0x20) break;
  }
  return i === at ? fail(at) : i;
}

function skipValue(bytes: Buffer, at: number): number {
  const byte = bytes[at];
  if (byte === QUOTE) return skipString(bytes, at);
  if (byte === OPEN_BRACE || byte === OPEN_BRACKET) return skipContainer(bytes, at);
  return skipScalar(bytes, at);
}

/** Finds the fields of the object at `start`. White space may precede it. @throws SyntaxError if there is no object */
export function readFields(bytes: Buffer, start = 0): Map<string, Slice> {
  const fields = new Map<string, Slice>();
  eachField(bytes, start, (name, at) => {
    const field = bytes[at] === OPEN_BRACKET ? readArray(bytes, at) : { start: at, end: skipValue(bytes, at) };
    fields.set(name, field);
    return field.end;
  });
  return fields;
}

/** Returns the value of the first field for which `isWanted` is true, or undefined. Doesn't scan later fields. */
export function findField(bytes: Buffer, start: number, isWanted: (name: string) => boolean): Slice | undefined {
  let found: Slice | undefined;
  eachField(bytes, start, (name, at) => {
    const end = skipValue(bytes, at);
    if (!isWanted(name)) return end;
    found = { start: at, end };
    return undefined;
  });
  return found;
}

/** Returns the first field for which `fitOf` returns `sure`, or otherwise the first for which it returns `maybe`. */
export function findFittingField(
  bytes: Buffer,
  start: number,
  fitOf: (name: string) => 'sure' | 'maybe' | undefined,
): Slice | undefined {
  let found: Slice | undefined;
  eachField(bytes, start, (name, at) => {
    const end = skipValue(bytes, at);
    const fits = fitOf(name);
    if (fits === 'sure') found = { start: at, end };
    else if (fits === 'maybe') found ??= { start: at, end };
    return fits === 'sure' ? undefined : end;
  });
  return found;
}

/** Calls `visit` for each field with the offset of its value. `visit` returns the value's end, or undefined to stop. */
function eachField(bytes: Buffer, start: number, visit: (name: string, at: number) => number | undefined): void {
  let i = skipSpace(bytes, start);
  if (bytes[i] !== OPEN_BRACE) fail(i);
  i = skipSpace(bytes, i + 1);
  if (bytes[i] === CLOSE_BRACE) return;
  for (;;) {
    if (bytes[i] !== QUOTE) fail(i);
    const keyEnd = skipString(bytes, i);
    const key = readKey(bytes, i, keyEnd);
    i = skipSpace(bytes, keyEnd);
    if (bytes[i] !== COLON) fail(i);
    const end = visit(key, skipSpace(bytes, i + 1));
    if (end === undefined) return;
    i = skipSpace(bytes, end);
    if (bytes[i] === CLOSE_BRACE) return;
    if (bytes[i] !== COMMA) fail(i);
    i = skipSpace(bytes, i + 1);
  }
}

/** Reads a key without its quotes. Parses the key as JSON only if it contains escapes. */
function readKey(bytes: Buffer, start: number, end: number): string {
  const text = bytes.toString('utf8', start + 1, end - 1);
  return text.includes('\\') ? (JSON.parse(`"${text}"`) as string) : text;
}

/** Finds the elements of the array at `start`. @throws SyntaxError if there is no array */
export function readElements(bytes: Buffer, start: number): Slice[] {
  return readArray(bytes, skipSpace(bytes, start)).elements;
}

function readArray(bytes: Buffer, start: number): Required<Slice> {
  const elements: Slice[] = [];
  if (bytes[start] !== OPEN_BRACKET) fail(start);
  let i = skipSpace(bytes, start + 1);
  if (bytes[i] === CLOSE_BRACKET) return { start, end: i + 1, elements };
  for (;;) {
    const end = skipValue(bytes, i);
    elements.push({ start: i, end });
    i = skipSpace(bytes, end);
    if (bytes[i] === CLOSE_BRACKET) return { start, end: i + 1, elements };
    if (bytes[i] !== COMMA) fail(i);
    i = skipSpace(bytes, i + 1);
  }
}

/** Reads an integer with all digits. @throws SyntaxError if it isn't an int64 in plain decimal form */
export function readInt64(bytes: Buffer, slice: Slice): bigint {
  const value = parseInt64(bytes, slice);
  if (value !== undefined) return value;
  throw new SyntaxError(`${showValue(bytes, slice)} at byte ${slice.start} is not a 64-bit integer`);
}

const SHOWN_BYTES = 40;

export function showValue(bytes: Buffer, { start, end }: Slice): string {
  const text = bytes.toString('utf8', start, Math.min(end, start + SHOWN_BYTES)).replaceAll(/\s+/g, ' ');
  return end - start > SHOWN_BYTES ? `${text}…` : text;
}

/** Like `readInt64`, but returns undefined if the value isn't an int64. */
export function parseInt64(bytes: Buffer, slice: Slice): bigint | undefined {
  const text = bytes.toString('latin1', slice.start, slice.end);
  if (!/^-?(0|[1-9]\d{0,18})$/.test(text)) return undefined;
  const value = BigInt(text);
  return BigInt.asIntN(64, value) === value ? value : undefined;
}

/** True if JSON is nested too deeply for recursive functions: parsers, zod, JSON.stringify. */
export function isTooDeep(json: string): boolean {
  // Each level needs an opening and a closing bracket, so a short text can't exceed the limit.
  if (json.length <= 2 * LIMITS.jsonDepth) return false;
  let depth = 0;
  let isText = false;
  for (let i = 0; i < json.length; i++) {
    const char = json.charCodeAt(i);
    if (isText) {
      if (char === 0x5c) i++;
      else if (char === 0x22) isText = false;
    } else if (char === 0x22) isText = true;
    else if (char === 0x5b || char === 0x7b) {
      if (++depth > LIMITS.jsonDepth) return true;
    } else if (char === 0x5d || char === 0x7d) depth--;
  }
  return false;
}
