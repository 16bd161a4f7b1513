import { isSafeNumber, LosslessNumber, parse } from 'lossless-json';
import { isTooDeep } from '../formats/json-scan.js';
import { LIMITS } from '../io/limits.js';

/**
 * Matches a number that a double may not represent exactly: 16 or more digits, or an exponent. A match inside a string
 * only costs time.
 */
const TOKEN_AT_RISK = /(?:^|[:,[\s])-?(?:\d[\d.]{15}|\d[\d.]*[eE])/;

const INTEGER = /^-?\d+$/;

/**
 * Parses JSON without losing digits: safe integers as numbers, others as bigints, and decimals as numbers if a double
 * prints the same digits, otherwise as LosslessNumber. The last value of a repeated key wins.
 * @throws SyntaxError if the text is not JSON, or is nested too deeply
 */
export function parseExactJson(text: string): unknown {
  if (isTooDeep(text)) throw new SyntaxError(`nested more than ${LIMITS.jsonDepth} levels deep`);
  if (!TOKEN_AT_RISK.test(text)) return JSON.parse(text);
  return parse(text, null, { parseNumber: readNumber, onDuplicateKey: ({ newValue }) => newValue });
}

function readNumber(token: string): number | bigint | LosslessNumber {
  if (isSafeNumber(token)) return Number(token);
  return INTEGER.test(token) ? BigInt(token) : new LosslessNumber(token);
}
