import { basename, extname } from 'node:path';
import type { Mapping } from './item-names.js';
import type { LandedFile } from './landed.js';
import { observeRows } from './observe.js';
import { observeCsv } from './observe-csv.js';
import { type ObservedFields, observeRow } from './shape.js';

type LookedAt = Pick<LandedFile, 'path' | 'readAt'>;

/** What looking at a landed file leaves behind. */
export interface Look {
  observed: ObservedFields;
  mapping: Mapping;
  show: (row: unknown, format?: 'csv') => void;
}

/** Looks at files of JSON lines. */
export function observeLines(files: readonly LookedAt[], { observed, mapping, show }: Look): Promise<void> {
  return observeRows(
    files.map(({ path }) => path),
    (row) => {
      observeRow(observed, row, mapping);
      show(row);
    },
  );
}

/** Looks at a file of CSV. Numbers are text in it: none has to be quoted. */
export async function readCsvFile({ path, readAt }: LookedAt, { observed, mapping, show }: Look): Promise<LandedFile> {
  const columns = await observeCsv(path, observed, mapping, (row) => show(row, 'csv'));
  return { path, layout: 'csv', marked: false, part: basename(path), readAt, columns };
}

export function isCsv(path: string): boolean {
  return extname(path) === '.csv';
}
