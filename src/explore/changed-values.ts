import { isLosslessNumber, parse, stringify } from 'lossless-json';
import { type Content, html } from '../formats/html.js';
import { toLabel } from './cells.js';
import { foreign } from './format.js';

const LONGEST = 80;

/**
 * Renders the changed values in JSON text such as `{"title": ["old", "new"]}`, one per line. Skips `price`, because
 * tables show prices in separate columns.
 */
export function showChangedValues(text: string): Content {
  const changes = parseChanges(text);
  const names = Object.keys(changes ?? {}).filter((name) => name !== 'price');
  if (changes === undefined) return foreign(text, 240);
  if (names.length === 0) return html`<span class="none">–</span>`;
  return names.map((name) => {
    const change = changes[name];
    const pair = Array.isArray(change) && change.length === 2 ? change : [undefined, change];
    const [before, after] = pair.map((value) => (value === undefined ? '' : foreign(toText(value), LONGEST)));
    return html`<div>${foreign(toLabel(toWords(name)), LONGEST)}: ${before === '' ? '' : html`${before} → `}${after}</div>`;
  });
}

/** Parses a JSON object and keeps its numbers as text, or returns undefined if the text is not a JSON object. */
function parseChanges(text: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = parse(text);
    return typeof value === 'object' && value !== null && !Array.isArray(value)
      ? (value as Record<string, unknown>)
      : undefined;
  } catch {
    return undefined;
  }
}

/** Splits a camel-case name into words: `regularPrice` → `regular price`. */
const toWords = (name: string) => name.replaceAll(/(?<=[a-z])[A-Z]/gu, (letter) => ` ${letter.toLowerCase()}`);

function toText(value: unknown): string | null {
  if (value === null) return null;
  if (isLosslessNumber(value)) return value.toString();
  return typeof value === 'object' ? (stringify(value) ?? null) : String(value);
}
