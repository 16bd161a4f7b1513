import { type Html, html } from '../formats/html.js';
import { labelOf, nameColumn, type ShownColumn } from './table.js';

const NAME = 'hide';
const MOST = 100;

/** A value that the form always submits, so that hiding no column differs from not having chosen yet. */
const CHOSEN = '-';

/** Reads the names of the columns that the reader has hidden, or returns `usual` if the reader hasn't chosen any. */
export const readHidden = (search: URLSearchParams, usual: readonly string[] = []): ReadonlySet<string> =>
  new Set(search.has(NAME) ? search.getAll(NAME).slice(0, MOST) : usual);

/**
 * Renders checkboxes that hide columns. The first column can't be hidden, because it labels the rows. `isUsual` is true
 * if some columns are hidden until the reader chooses.
 */
export function renderColumnChoice(
  [, ...columns]: readonly (string | ShownColumn)[],
  hidden: ReadonlySet<string>,
  { isUsual = false } = {},
): Html {
  const boxes = columns.map((column) => {
    const name = nameColumn(column);
    return html`<label><input type="checkbox" name="${NAME}" value="${name}"${hidden.has(name) ? html` checked` : ''}> ${labelOf(column)}</label>\n`;
  });
  const left = columns.filter((column) => hidden.has(nameColumn(column))).length;
  const count = left === 0 ? '' : ` (${left} left out)`;
  const chosen = isUsual ? html`<input type="hidden" name="${NAME}" value="${CHOSEN}">` : '';
  return html`<details class="more"><summary>Leave out columns${count}</summary>${chosen}<div class="boxes">${boxes}</div></details>`;
}
