import { findField } from './json-scan.js';

/** Recognizes the field with the item's id, which the document does not name for export rows. */
export type IsId = (name: string) => boolean;

/**
 * Finds the id's digits in a broken row; null if they aren't certain, as in a number at the row's end, which may have
 * lost digits. `within` names the objects around it.
 */
export function findRowId(row: Buffer, within: readonly string[], isId: IsId): string | null {
  try {
    let start = 0;
    for (const parent of within) {
      const inner = findField(row, start, (name) => name === parent);
      if (inner === undefined) return null;
      start = inner.start;
    }
    const id = findField(row, start, isId);
    if (id === undefined || id.end >= row.length) return null;
    return readDigits(row.toString('utf8', id.start, id.end).replace(/^"(.*)"$/, '$1'));
  } catch (error) {
    if (error instanceof SyntaxError) return null;
    throw error;
  }
}

/** Finds the id in a CSV record that has as many cells as the header. */
export function readCellId(cells: readonly (string | null)[], columns: readonly string[], isId: IsId): string | null {
  if (cells.length !== columns.length) return null;
  return readDigits(cells[columns.findIndex((name) => isId(name))] ?? '');
}

const readDigits = (text: string): string | null => (/^-?\d{1,19}$/.test(text) ? text : null);
