import { writeFile } from 'node:fs/promises';
import { basename } from 'node:path';
import { toJsonText } from '../json-text.js';
import type { Format } from '../shared-options.js';
import { DATATYPES, type ResultSet } from './result-set.js';

/**
 * Writes licence texts and the types of columns to `<file>-metadata.json`, as W3C's CSV on the Web wants them, because CSV
 * and JSON have no place for them that every parser skips.
 * @returns its path
 */
export async function writeMetadata(file: string, format: Format, { columns, credits }: ResultSet): Promise<string> {
  const path = `${file}-metadata.json`;
  const described = columns.map(({ name, type }) => ({
    titles: name,
    datatype: DATATYPES.get(type.typeId) ?? 'string',
  }));
  const metadata = {
    '@context': 'http://www.w3.org/ns/csvw',
    url: basename(file),
    'dc:format': format,
    'dc:rights': credits,
    tableSchema: { columns: described },
  };
  await writeFile(path, `${toJsonText(metadata)}\n`);
  return path;
}
