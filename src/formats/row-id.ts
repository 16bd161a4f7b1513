import { findField } from './json-scan.js';

/** Tells the field of a row that holds the item's id: the document does not show how export rows name it. */
export type IsId = (name: string) => boolean;

/**
 * The id in a row that is broken somewhere, as its digits; null where it can't be read for sure. `within` names the
 * objects that it is in. A number that ends with the row may have lost digits.
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

/** The id in a record of CSV that has as many cells as the header. */
export function readCellId(cells: readonly (string | null)[], columns: readonly string[], isId: IsId): string | null {
  if (cells.length !== columns.length) return null;
  return readDigits(cells[columns.findIndex((name) => isId(name))] ?? '');
}

const readDigits = (text: string): string | null => (/^-?\d{1,19}$/.test(text) ? text : null);
