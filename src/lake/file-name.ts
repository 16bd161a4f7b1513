import { createHash } from 'node:crypto';

/** The maximum length of the label in a file name. File systems limit the whole name to 255 bytes. */
const LABEL_LENGTH = 120;

/**
 * Returns the path of a data file within its table, such as `site_id-12.0198….parquet`. The name starts with the
 * partition values, but only for people and globs: Delta readers take the values from the log. All files are in one
 * folder, because some readers ignore subfolders, and others read the name of a subfolder as a column.
 */
export function nameDataFile(partitionValues: Record<string, string | null>, baseName: string): string {
  const label = shorten(Object.entries(partitionValues).map(labelValue).join('.'));
  return label === '' ? baseName : `${label}.${baseName}`;
}

function labelValue([column, value]: [string, string | null]): string {
  return value === null ? column : `${column}-${encodeValue(value)}`;
}

/** Replaces each character that isn't a letter, a digit or `-` with its UTF-8 bytes, each as `_` and two hex digits. */
function encodeValue(value: string): string {
  return value.replaceAll(/[^A-Za-z0-9-]/gu, (character) =>
    [...Buffer.from(character)].map((byte) => `_${byte.toString(16).padStart(2, '0')}`).join(''),
  );
}

/** Shortens a long label, and ends it with `_sha256_` and its hash. No encoded value contains `_sha256_`. */
function shorten(label: string): string {
  if (label.length <= LABEL_LENGTH) return label;
  const hash = createHash('sha256').update(label).digest('hex').slice(0, 32);
  const start = label.slice(0, LABEL_LENGTH - hash.length - '_sha256_'.length).replace(/_[0-9a-f]?$/, '');
  return `${start}_sha256_${hash}`;
}
