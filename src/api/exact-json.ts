import { isSafeNumber, LosslessNumber, parse } from 'lossless-json';
import { isTooDeep } from '../formats/json-scan.js';
import { MAX_JSON_DEPTH } from '../io/limits.js';

/**
 * A number token that a double may not hold: 16 or more digits, or an exponent. A match inside a string only costs
 * time.
 */
const TOKEN_AT_RISK = /(?:^|[:,[\s])-?(?:\d[\d.]{15}|\d[\d.]*[eE])/;

const INTEGER = /^-?\d+$/;

/**
 * Integers are exact: safe ones as number, others as bigint. A decimal is a number if the double prints the same digits
 * again, else a LosslessNumber with the text. If a key is repeated, its last value holds, as in JSON.parse.
 * @throws SyntaxError for text that is not JSON, or nested too deep
 */
export function parseExactJson(text: string): unknown {
  if (isTooDeep(text)) throw new SyntaxError(`nested more than ${MAX_JSON_DEPTH} levels deep`);
  if (!TOKEN_AT_RISK.test(text)) return JSON.parse(text);
  return parse(text, null, { parseNumber: readNumber, onDuplicateKey: ({ newValue }) => newValue });
}

function readNumber(token: string): number | bigint | LosslessNumber {
  if (isSafeNumber(token)) return Number(token);
  return INTEGER.test(token) ? BigInt(token) : new LosslessNumber(token);
}
