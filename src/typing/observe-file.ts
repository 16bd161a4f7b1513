import { basename, extname } from 'node:path';
import type { Mapping } from './item-names.js';
import type { LandedFile } from './landed.js';
import { observeRows } from './observe.js';
import { observeCsv } from './observe-csv.js';
import { quoteFile } from './quote-file.js';
import { type ObservedFields, observeRow } from './shape.js';

type LookedAt = Pick<LandedFile, 'path' | 'readAt'>;

/** What looking at a landed file leaves behind. */
export interface Look {
  observed: ObservedFields;
  mapping: Mapping;
  show: (row: unknown, format?: 'csv') => void;
  workFolder: string;
}

/** Looks at a file of JSON lines, and quotes its long numbers. */
export async function readLinesFile({ path, readAt }: LookedAt, { observed, mapping, show, workFolder }: Look) {
  await observeRows(path, (row) => {
    observeRow(observed, row, mapping);
    show(row);
  });
  return quoteFile(path, readAt, workFolder);
}

/** Looks at a file of CSV. Numbers are text in it: none has to be quoted. */
export async function readCsvFile({ path, readAt }: LookedAt, { observed, mapping, show }: Look): Promise<LandedFile> {
  const columns = await observeCsv(path, observed, mapping, (row) => show(row, 'csv'));
  return { path, layout: 'csv', marked: false, part: basename(path), readAt, columns };
}

export function isCsv(path: string): boolean {
  return extname(path) === '.csv';
}
