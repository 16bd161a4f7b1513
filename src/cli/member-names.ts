import { RawJson } from './json-text.js';

/** The name under which a member is printed: `exportRows` is `export_rows`, as columns of tables are named. */
export const toPrintedName = (name: string): string =>
  name.replaceAll(/(?<=[a-z0-9])[A-Z]/gu, (letter) => `_${letter.toLowerCase()}`);

/**
 * Renames the members of a report as they are printed, at every depth. Keys of a Map are data, such as the columns of a
 * query, and stay as they are. So does text that is JSON already.
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
