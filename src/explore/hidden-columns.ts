import { type Html, html } from '../formats/html.js';
import { toLabel } from './cells.js';
import { nameColumn, type ShownColumn } from './table.js';

const NAME = 'hide';
const MOST = 100;

/** Reads the names of the columns that the reader has hidden. */
export const readHidden = (search: URLSearchParams): ReadonlySet<string> => new Set(search.getAll(NAME).slice(0, MOST));

/** Renders checkboxes that hide columns. The first column can't be hidden, because it labels the rows. */
export function renderColumnChoice(
  [, ...columns]: readonly (string | ShownColumn)[],
  hidden: ReadonlySet<string>,
): Html {
  const boxes = columns.map((column) => {
    const name = nameColumn(column);
    const label = (typeof column === 'string' ? undefined : column.label) ?? toLabel(name);
    return html`<label><input type="checkbox" name="${NAME}" value="${name}"${hidden.has(name) ? html` checked` : ''}> ${label}</label>\n`;
  });
  return html`<details class="more"><summary>Leave out columns</summary><div class="boxes">${boxes}</div></details>`;
}
