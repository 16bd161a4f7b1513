import { LosslessNumber, parse, stringify } from 'lossless-json';
import type { FaultEffect } from './fault.js';

type JsonObject = Record<string, unknown>;

/** A JSON answer's text with what the faults do to it; numbers keep their digits. */
export function editJson(text: string, effects: readonly FaultEffect[], url: URL): string {
  let edited = parse(text);
  for (const effect of effects) edited = editValue(edited, effect, url);
  const whole = stringify(edited) as string;
  return effects.some(({ kind }) => kind === 'malformed') ? whole.slice(0, Math.ceil(whole.length * 0.6)) : whole;
}

function editValue(value: unknown, { kind, argument }: FaultEffect, url: URL): unknown {
  if (kind === 'duplicate') return doubleEntries(value, argument);
  if (kind === 'unknown') {
    for (const object of findObjects(value)) object[argument] = { is: ['new'] };
  }
  if (kind === 'missing') {
    for (const object of findObjects(value)) delete object[argument];
  }
  if (kind === 'stale-cursor' && isObject(value)) {
    const cursor = url.searchParams.get('after') ?? url.searchParams.get('before') ?? '0';
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

/** The answer itself, and the entries of its lists. */
function findObjects(value: unknown): JsonObject[] {
  if (Array.isArray(value)) return value.filter(isObject);
  if (!isObject(value)) return [];
  return [value, ...Object.values(value).flatMap((member) => (Array.isArray(member) ? member.filter(isObject) : []))];
}

function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof LosslessNumber);
}
