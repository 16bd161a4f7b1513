/**
 * DuckDB's JSON reader converts each number to a double or an int64, which may change the number. This module therefore
 * quotes numbers of more than 15 characters, except positive integers of up to 18 digits.
 */

const NEWLINE = 0x0a;
const QUOTE = 0x22;
const BACKSLASH = 0x5c;
/** A number of at most this length is exact as a double or an int64. */
const SAFE_LENGTH = 15;
const SAFE_INTEGER_DIGITS = 18;
const STRIDE = SAFE_LENGTH + 1;

/** The bytes of a number: from `start` up to, but not including, `end`. */
interface Token {
  start: number;
  end: number;
}

const NUMBER_BYTES = (() => {
  const table = new Uint8Array(256);
  for (const char of '0123456789+-.eE') table[char.charCodeAt(0)] = 1;
  return table;
})();

/** Returns the positions of numbers that must be quoted to stay exact. @param bytes complete lines of NDJSON */
export function findLongNumbers(bytes: Buffer): Token[] {
  const tokens: Token[] = [];
  // Inspects only every 16th byte, because each number that is longer than SAFE_LENGTH covers one of these bytes.
  for (let i = STRIDE - 1; i < bytes.length; i += STRIDE) {
    if (NUMBER_BYTES[bytes[i] as number] === 0) continue;
    let start = i;
    let end = i + 1;
    while (start > 0 && NUMBER_BYTES[bytes[start - 1] as number] === 1) start--;
    while (end < bytes.length && NUMBER_BYTES[bytes[end] as number] === 1) end++;
    if (end - start > SAFE_LENGTH && isAtRisk(bytes, start, end)) tokens.push({ start, end });
    i += Math.floor((end - 1 - i) / STRIDE) * STRIDE; // skips the rest of a long token
  }
  return tokens;
}

function isAtRisk(bytes: Buffer, start: number, end: number): boolean {
  // Most long numbers are ids. With up to 18 digits, they fit in an int64, so they stay exact.
  if (end - start <= SAFE_INTEGER_DIGITS && isDigits(bytes, start, end)) return false;
  return NUMBER.test(bytes.toString('latin1', start, end)) && !isInString(bytes, start);
}

const NUMBER = /^-?\d+(\.\d+)?([eE][+-]?\d+)?$/;

function isDigits(bytes: Buffer, start: number, end: number): boolean {
  for (let i = start; i < end; i++) {
    const byte = bytes[i] as number;
    if (byte < 0x30 || byte > 0x39) return false;
  }
  return true;
}

function isInString(bytes: Buffer, at: number): boolean {
  let inside = false;
  for (let i = bytes.lastIndexOf(NEWLINE, at) + 1; i < at; i++) {
    if (bytes[i] === BACKSLASH) i++;
    else if (bytes[i] === QUOTE) inside = !inside;
  }
  return inside;
}

/**
 * Replaces numbers with strings that start with NUMBER_MARK. All calls write to the same buffer, because allocating a
 * buffer for each chunk would take longer than finding the numbers. A result is valid only until the next call.
 */
export class NumberQuoter {
  #room = Buffer.alloc(0);

  quote(bytes: Buffer, tokens: readonly Token[]): Buffer {
    if (tokens.length === 0) return bytes;
    const length = bytes.length + tokens.length * (OPEN.length + CLOSE.length);
    if (length > this.#room.length) this.#room = Buffer.allocUnsafe(length + SPARE_BYTES);
    let at = 0;
    let filled = 0;
    for (const { start, end } of tokens) {
      filled += bytes.copy(this.#room, filled, at, start);
      filled += OPEN.copy(this.#room, filled);
      filled += bytes.copy(this.#room, filled, start, end);
      filled += CLOSE.copy(this.#room, filled);
      at = end;
    }
    filled += bytes.copy(this.#room, filled, at);
    return this.#room.subarray(0, filled);
  }
}

/** The first character of a quoted number: a private-use character, which text from shops is unlikely to contain. */
export const NUMBER_MARK = '\uE0F1';
const OPEN = Buffer.from(`"${NUMBER_MARK}`);
const CLOSE = Buffer.from('"');
/** Extra bytes in the buffer, so that it also fits later chunks with slightly more numbers to quote. */
const SPARE_BYTES = 64 * 1024;
