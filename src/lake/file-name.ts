import { createHash } from 'node:crypto';

/** Maximum length of the label of partition values. File systems limit the whole file name to 255 bytes. */
const LABEL_LENGTH = 120;

/**
 * The path of a data file in its table's folder: `site_id-12.0198….parquet`. All files of a table are in one folder,
 * because readers would infer a second column of another type from folders named `column=value`, and some don't look
 * into folders. The label is for people and globs (`items/site_id-12.*.parquet`); partition values come from the log.
 */
export function nameDataFile(partitionValues: Record<string, string | null>, baseName: string): string {
  const label = shorten(Object.entries(partitionValues).map(labelValue).join('.'));
  return label === '' ? baseName : `${label}.${baseName}`;
}

/** Returns the label of a partition value. The label of a null is the column's name alone. */
function labelValue([column, value]: [string, string | null]): string {
  return value === null ? column : `${column}-${encodeValue(value)}`;
}

/** Keeps letters, digits and `-`, and writes each other UTF-8 byte as `_` and two hexadecimal digits. */
function encodeValue(value: string): string {
  return value.replaceAll(/[^A-Za-z0-9-]/gu, (character) =>
    [...Buffer.from(character)].map((byte) => `_${byte.toString(16).padStart(2, '0')}`).join(''),
  );
}

/** Cuts a long label and ends it with its hash after `_sha256_`, which no encoded value contains. */
function shorten(label: string): string {
  if (label.length <= LABEL_LENGTH) return label;
  const hash = createHash('sha256').update(label).digest('hex').slice(0, 32);
  const start = label.slice(0, LABEL_LENGTH - hash.length - '_sha256_'.length).replace(/_[0-9a-f]?$/, '');
  return `${start}_sha256_${hash}`;
}
