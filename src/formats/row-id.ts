import { findField, findFittingField } from './json-scan.js';

/**
 * Recognizes the field with the item's id, which the document does not name for export rows. A `maybe` counts only if
 * no other field is `sure`.
 */
export type FitId = (name: string) => 'sure' | 'maybe' | undefined;

/** Accepts only the name in the API document. */
export const isNamedId: FitId = (name) => (name === 'id' ? 'sure' : undefined);

/** The index of the column that is `sure`, otherwise of the first that is `maybe`; -1 without either. */
export function findFittingColumn(columns: readonly (string | null)[], fitOf: FitId): number {
  const fits = columns.map((name) => (name === null ? undefined : fitOf(name)));
  return fits.includes('sure') ? fits.indexOf('sure') : fits.indexOf('maybe');
}

/**
 * Finds the digits of the id in a damaged row; null if they aren't certain, as for a number at the end of the row,
 * which may have lost digits. `within` names the objects around it.
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

/** Finds the id in a CSV record that has as many cells as the header. */
export function readCellId(cells: readonly (string | null)[], columns: readonly string[], fitId: FitId): string | null {
  if (cells.length !== columns.length) return null;
  return readDigits(cells[findFittingColumn(columns, fitId)] ?? '');
}

const readDigits = (text: string): string | null => (/^-?\d{1,19}$/.test(text) ? text : null);
