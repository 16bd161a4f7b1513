import { createHash } from 'node:crypto';

/** Longest label of partition values; a file's whole name stays below the 255 bytes that file systems take. */
const LABEL_LENGTH = 120;

/**
 * Path of a data file in its table's folder: `site_id-12.0198….parquet`. All files of a table are in one folder:
 * folders named `column=value` make readers infer a second column of another type, and some don't look into others.
 * The label is for people and globs (`items/site_id-12.*.parquet`); partition values come from the log.
 */
export function nameDataFile(partitionValues: Record<string, string | null>, baseName: string): string {
  const label = shorten(Object.entries(partitionValues).map(labelValue).join('.'));
  return label === '' ? baseName : `${label}.${baseName}`;
}

/** A null has no value behind its column's name. */
function labelValue([column, value]: [string, string | null]): string {
  return value === null ? column : `${column}-${encodeValue(value)}`;
}

/** Letters, digits and `-` as they are, each other byte of UTF-8 as `_` and two hexadecimal digits. */
function encodeValue(value: string): string {
  return value.replaceAll(/[^A-Za-z0-9-]/gu, (character) =>
    [...Buffer.from(character)].map((byte) => `_${byte.toString(16).padStart(2, '0')}`).join(''),
  );
}

/** A long label ends in its hash, behind `_sha256_`, which no encoded value holds. */
function shorten(label: string): string {
  if (label.length <= LABEL_LENGTH) return label;
  const hash = createHash('sha256').update(label).digest('hex').slice(0, 32);
  const start = label.slice(0, LABEL_LENGTH - hash.length - '_sha256_'.length).replace(/_[0-9a-f]?$/, '');
  return `${start}_sha256_${hash}`;
}
