import { RawJson } from './json-text.js';

/** Converts a member's name to its printed form, which table columns also use: `exportRows` → `export_rows`. */
export const toPrintedName = (name: string): string =>
  name.replaceAll(/(?<=[a-z0-9])[A-Z]/gu, (letter) => `_${letter.toLowerCase()}`);

/**
 * Renames the members of a report to their printed form, at every depth. Doesn't rename keys of a Map, which are data
 * such as the column names of a query, and doesn't change text that is already JSON.
 */
export function renameMembers(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(renameMembers);
  if (value === null || typeof value !== 'object' || value instanceof Map) return value;
  if (value instanceof RawJson || value instanceof Date || value instanceof Error) return value;
  if ('toJSON' in value && typeof value.toJSON === 'function') return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => [toPrintedName(name), renameMembers(member)]),
  );
}
