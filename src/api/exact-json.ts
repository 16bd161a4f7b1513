import { isSafeNumber, LosslessNumber, parse } from 'lossless-json';
import { isTooDeep } from '../formats/json-scan.js';
import { LIMITS } from '../io/limits.js';

/**
 * Matches a number that a double may not represent exactly: one with at least 16 characters, or with an exponent. A
 * match inside a string only causes the slower parser to be used.
 */
const TOKEN_AT_RISK = /(?:^|[:,[\s])-?(?:\d[\d.]{15}|\d[\d.]*[eE])/;

const INTEGER = /^-?\d+$/;

/**
 * Parses JSON without losing digits. Safe integers become numbers, and other integers become bigints. A decimal becomes
 * a number if a double prints the same digits, or else a LosslessNumber. A repeated key has its last value.
 * @throws SyntaxError if the text isn't JSON, or is nested too deeply
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
