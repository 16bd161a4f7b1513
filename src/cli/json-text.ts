import { escapeControls } from './plain-text.js';

/**
 * Formats a value as JSON, with bigints as exact integers and seconds rounded to three decimals. Escapes all control
 * characters, even those that JSON allows, because the text may be shown on a terminal.
 */
export function toJsonText(value: unknown): string {
  return escapeControls(writeJson(value));
}

function writeJson(value: unknown): string {
  if (typeof value === 'bigint') return value.toString();
  if (value === null || typeof value !== 'object') return JSON.stringify(value) ?? 'null';
  if (value instanceof RawJson) return value.text;
  if (value instanceof Error) return JSON.stringify(value.message);
  if (Array.isArray(value)) return `[${value.map(writeJson).join(',')}]`;
  if (value instanceof Map) return writeJson(Object.fromEntries(value));
  if ('toJSON' in value && typeof value.toJSON === 'function') return writeJson(value.toJSON());
  const members = Object.entries(value).filter(([, member]) => member !== undefined && typeof member !== 'function');
  return `{${members.map(([name, member]) => `${JSON.stringify(name)}:${writeJson(roundSeconds(name, member))}`).join(',')}}`;
}

function roundSeconds(name: string, value: unknown): unknown {
  return typeof value === 'number' && /seconds$/iu.test(name) ? Math.round(value * 1000) / 1000 : value;
}

/** Text that is already JSON, such as an exact decimal. */
export class RawJson {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}
