import { findField, findFittingField } from './json-scan.js';

/**
 * Determines whether a field of this name contains the item's id. The API document doesn't name the fields of export
 * rows. A `maybe` counts only if no other field is `sure`.
 */
export type FitId = (name: string) => 'sure' | 'maybe' | undefined;

/** Recognizes only the name `id`, which Item and ChangeItem have in the API document. */
export const isNamedId: FitId = (name) => (name === 'id' ? 'sure' : undefined);

/** Returns the index of the first column that is `sure`, or else of the first that is `maybe`, or -1. */
export function findFittingColumn(columns: readonly (string | null)[], fitOf: FitId): number {
  const fits = columns.map((name) => (name === null ? undefined : fitOf(name)));
  return fits.includes('sure') ? fits.indexOf('sure') : fits.indexOf('maybe');
}

/**
 * Returns the id in a damaged row as text. Returns null if the id is uncertain, for example because the row ends within
 * it.
 * @param within the names of the objects that contain the id, outermost first
 */
export function findRowId(row: Buffer, within: readonly string[], fitId: FitId): string | null {
  try {
    let start = 0;
    for (const parent of within) {
      const inner = findField(row, start, (name) => name === parent);
      if (inner === undefined) return null;
      start = inner.start;
    }
    const id = findFittingField(row, start, fitId);
    if (id === undefined || id.end >= row.length) return null;
    return readDigits(row.toString('utf8', id.start, id.end).replace(/^"(.*)"$/, '$1'));
  } catch (error) {
    if (error instanceof SyntaxError) return null;
    throw error;
  }
}

/** Returns the id in a CSV record as text; null if the id isn't an integer or the number of cells is wrong. */
export function readCellId(cells: readonly (string | null)[], columns: readonly string[], fitId: FitId): string | null {
  if (cells.length !== columns.length) return null;
  return readDigits(cells[findFittingColumn(columns, fitId)] ?? '');
}

const readDigits = (text: string): string | null => (/^-?\d{1,19}$/.test(text) ? text : null);
