import type { DuckDBValue } from '@duckdb/node-api';
import { formatCount } from '../formats/count.js';
import { type Content, type Html, html } from '../formats/html.js';
import { type CellColumn, isNumeric, type ReadCell, showCell, toLabel } from './cells.js';
import { type Answer, listVariables, type Question } from './question.js';

export interface ShownColumn {
  name: string;
  label?: string;
  /** Instead of the usual form of the value. */
  show?: (value: DuckDBValue, read: ReadCell) => Content;
}

export interface TableView {
  caption: Content;
  /** All columns without it. A column that the answer lacks is left out. */
  columns?: readonly (string | ShownColumn)[];
  /** The address of the page in another order; without it, columns can't be sorted. */
  sortAddress?: (by: string, isDescending: boolean) => string;
  /** Follows the table if there are more rows. */
  more?: Content;
  /** Instead of a table without rows. */
  empty?: Content;
}

/** The rows of an answer as a table, with the ways to take them along. */
export function renderAnswer(answer: Answer, question: Question, view: TableView): Html {
  if (answer.rows.length === 0) return html`<p class="soft">${view.empty ?? 'No rows.'}</p>${renderTools(question)}`;
  return html`${renderTable(answer, view, question.order)}
${answer.hasMore ? (view.more ?? '') : ''}${renderTools(question)}`;
}

/** The rows of an answer as a table with all columns. */
export const renderRows = (answer: Answer, caption: string): Html => renderTable(answer, { caption }, undefined);

/** The first column heads the rows. */
function renderTable(answer: Answer, view: TableView, order: Question['order']): Html {
  const shown = chooseColumns(answer, view);
  const position = new Map(answer.columns.map(({ name }, k) => [name, k]));
  const renderRow = (row: readonly DuckDBValue[]) => {
    const read: ReadCell = (name) => row[position.get(name) ?? -1];
    return html`<tr role="row">${shown.map(({ column, label, show }, k) => {
      const value = read(column.name) ?? null;
      return renderCell({ column, label }, show(value, read), k === 0);
    })}</tr>\n`;
  };
  return html`<div class="frame cards">
<table role="table">
<caption><span>${view.caption}</span></caption>
<thead role="rowgroup"><tr role="row">${shown.map(({ column, label }) => renderHead(column, label, order, view))}</tr></thead>
<tbody role="rowgroup">
${answer.rows.map(renderRow)}</tbody>
</table>
</div>`;
}

interface Drawn {
  column: CellColumn;
  label: string;
  show: (value: DuckDBValue, read: ReadCell) => Content;
}

const nameOf = (one: string | ShownColumn) => (typeof one === 'string' ? one : one.name);
const firstName = ({ columns: [first] = [] }: TableView) => (first === undefined ? undefined : nameOf(first));

/** Chosen columns without a value say nothing, so they are left out; the first one heads the rows. */
function chooseColumns({ columns, rows }: Answer, view: TableView): Drawn[] {
  const isEmpty = (name: string) => {
    const at = columns.findIndex((column) => column.name === name);
    return rows.every((row) => row[at] === null) && name !== firstName(view);
  };
  const wanted = view.columns ?? columns.map(({ name }) => name);
  return wanted.flatMap((one) => {
    const { name, label, show } = typeof one === 'string' ? ({ name: one } as ShownColumn) : one;
    const column = columns.find((other) => other.name === name);
    if (column === undefined || (view.columns !== undefined && isEmpty(name))) return [];
    return [
      {
        column,
        label: label ?? toLabel(name),
        show: show ?? ((value: DuckDBValue, read: ReadCell) => showCell(column, value, read)),
      },
    ];
  });
}

function renderHead(column: CellColumn, label: string, order: Question['order'], { sortAddress }: TableView): Html {
  const kind = isNumeric(column) ? html` class="number"` : '';
  if (sortAddress === undefined) return html`<th scope="col" role="columnheader"${kind}>${label}</th>`;
  const isBy = order?.by === column.name;
  // Numbers are looked through from the largest.
  const isNextDescending = isBy ? !order.isDescending : isNumeric(column);
  const direction = isBy ? (order.isDescending ? 'descending' : 'ascending') : 'none';
  return html`<th scope="col" role="columnheader"${kind} aria-sort="${direction}"><a href="${sortAddress(column.name, isNextDescending)}" rel="nofollow">${label}</a></th>`;
}

function renderCell({ column, label }: Pick<Drawn, 'column' | 'label'>, content: Content, isHeader: boolean): Html {
  const kind = isNumeric(column) ? html` class="number"` : '';
  if (isHeader) return html`<th scope="row" role="rowheader"${kind}>${content}</th>`;
  return html`<td role="cell"${kind} data-label="${label}">${content}</td>`;
}

export const DOWNLOADS = ['csv', 'parquet', 'arrow'] as const;
export type DownloadFormat = (typeof DOWNLOADS)[number];

/** The address of an analysis with these variables. */
export function analysisAddress(question: Pick<Question, 'analysis' | 'set'>, format?: DownloadFormat): string {
  const variables = new URLSearchParams(listVariables(question));
  const search = variables.size === 0 ? '' : `?${variables}`;
  return `/analyses/${question.analysis}${format === undefined ? '' : `.${format}`}${search}`;
}

function renderTools(question: Question): Html {
  const links = DOWNLOADS.map(
    (format) => html` · <a href="${analysisAddress(question, format)}" download>${format.toUpperCase()}</a>`,
  );
  return html`<p class="tools"><a href="${analysisAddress(question)}#sql">SQL and all columns</a>${links}</p>`;
}

/** `Rows 51 to 100` with links to those before and after. */
export function renderPager(
  shown: number,
  hasMore: boolean,
  offset: number,
  address: (offset: number) => string,
  size: number,
): Html {
  const before = offset > 0 ? html`<a href="${address(Math.max(0, offset - size))}" rel="prev">Before</a>` : '';
  const after = hasMore ? html`<a href="${address(offset + size)}" rel="next">Next</a>` : '';
  const range = shown === 0 ? '' : html`<span>${formatCount(offset + 1)} to ${formatCount(offset + shown)}</span>`;
  return html`<nav class="pager" aria-label="Pages of rows">${before}${range}${after}</nav>`;
}
