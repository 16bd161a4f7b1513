import { stringify } from 'lossless-json';
import type * as z from 'zod';
import { PricelakeError } from '../io/errors.js';
import type { Cleaner } from './clean-text.js';
import { parseExactJson } from './exact-json.js';

const SHOWN_ISSUES = 3;
const SHOWN_VALUE = 80;

/** Parses a JSON body. @param where the start of error messages @throws PricelakeError `contract` if it isn't JSON */
export function parseJsonBody(body: Buffer, where: string, cleaner: Cleaner): unknown {
  try {
    return parseExactJson(new TextDecoder('utf-8', { fatal: true }).decode(body));
  } catch (error) {
    // Removes the text that V8's message quotes. It may contain a part of the key, which the cleaner can't find.
    const said = (error instanceof Error ? error.message : String(error)).replace(/, (?:\.{3})?".*$/s, '');
    throw refuseJson(
      `${where}: the response is not JSON (${cleaner.text(said)}); it starts with ${showText(body, cleaner)}`,
    );
  }
}

/** Validates a response. @throws PricelakeError `contract` with the path and the value of each mismatch */
export function checkAnswer<T extends z.ZodType>(
  value: unknown,
  schema: T,
  where: string,
  cleaner: Cleaner,
): z.output<T> {
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  const issues = result.error.issues.map((issue) => {
    const place = issue.path.map(String).join('.') || 'the whole response';
    return cleaner.text(
      `${place}: ${issue.message.replace(/, received .*/, '')}, received ${showValue(value, issue.path, cleaner)}`,
    );
  });
  const omitted = issues.length > SHOWN_ISSUES ? ` (and ${issues.length - SHOWN_ISSUES} more)` : '';
  throw refuseJson(`${where}: ${issues.slice(0, SHOWN_ISSUES).join('; ')}${omitted}`);
}

/**
 * Determines whether a body starts and ends like a JSON object or array, as every response of the API does. If a body
 * ends when the connection closes, only its last character shows whether it was cut off.
 */
export function judgeJson(body: Buffer): 'whole' | 'cut' | 'not_json' {
  const text = body.subarray(0, 64).toString().trimStart();
  const close = text.startsWith('{') ? '}' : text.startsWith('[') ? ']' : undefined;
  if (close === undefined) return 'not_json';
  return body.subarray(-64).toString().trimEnd().endsWith(close) ? 'whole' : 'cut';
}

export function showText(body: Buffer, cleaner: Cleaner): string {
  return JSON.stringify(cleaner.text(body.subarray(0, 4096).toString(), SHOWN_VALUE));
}

export function refuseJson(message: string): PricelakeError {
  return new PricelakeError('contract', message, {
    hint: 'The service deviates from its API document. Check source.baseUrl, then look for a newer version of pricelake.',
  });
}

function showValue(root: unknown, path: PropertyKey[], cleaner: Cleaner): string {
  let value = root;
  for (const key of path) value = (value as Record<PropertyKey, unknown> | null | undefined)?.[key];
  // Prints the value with lossless-json, which doesn't round bigints and long decimals.
  return cleaner.text(stringify(value) ?? 'nothing', SHOWN_VALUE);
}
