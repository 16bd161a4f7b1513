import type { DuckDBValue } from '@duckdb/node-api';
import { formatCount } from '../formats/count.js';
import { type Content, type Html, html } from '../formats/html.js';
import { valueToText } from '../sql/value-json.js';
import { type CellColumn, isNumeric, type ReadCell, showCell, toLabel } from './cells.js';
import { describeCommand } from './command.js';
import { onlyIn } from './edition.js';
import { foreign } from './format.js';
import { type Answer, listVariables, type Question } from './question.js';

export interface ShownColumn {
  name: string;
  label?: string;
  /** Shows the value in another form than usual. */
  show?: (value: DuckDBValue, read: ReadCell) => Content;
}

export interface TableView {
  caption: Content;
  /** The columns to show; by default all columns with a value. Columns that the answer lacks are left out. */
  columns?: readonly (string | ShownColumn)[];
  /** True to name the columns that are left out because no row has a value. */
  namesEmpty?: boolean;
  /** Returns the address of the page in another order. Without it, columns can't be sorted. */
  sortAddress?: (by: string, isDescending: boolean) => string;
  /** Shown below the table if there are more rows; by default, a sentence that says so. */
  more?: Content;
  /** Shown instead of an empty table. */
  empty?: Content;
}

/** Shows the rows of an answer as a table, with links to download and copy them. */
export function renderAnswer(answer: Answer, question: Question, view: TableView): Html {
  if (answer.rows.length === 0) return html`<p class="soft">${view.empty ?? 'No rows.'}</p>${renderTools(question)}`;
  return html`${renderTable(answer, view, question)}
${view.namesEmpty === true ? nameEmpty(answer) : ''}${answer.hasMore ? (view.more ?? renderMore(answer)) : ''}${renderTools(question)}`;
}

const renderMore = ({ rows }: Answer): Html =>
  html`<p class="soft">The first ${formatCount(rows.length)} rows; the files have all.</p>`;

/** Names the columns that the table leaves out. */
function nameEmpty(answer: Answer): Content {
  const empty = answer.columns.filter(({ name }) => isEmpty(answer, name)).map(({ name }) => toLabel(name));
  return empty.length === 0 ? '' : html`<p class="soft">Without a value: ${foreign(empty.join(', '), 1000)}.</p>`;
}

function isEmpty({ columns, rows }: Answer, name: string): boolean {
  const at = columns.findIndex((column) => column.name === name);
  return rows.every((row) => row[at] === null);
}

/** Shows the rows of an answer as a table with all columns. */
export const renderRows = (answer: Answer, caption: string): Html => renderTable(answer, { caption });

/** Renders a table. The first column heads the rows. */
function renderTable(answer: Answer, view: TableView, question?: Question): Html {
  const shown = chooseColumns(answer, view, question !== undefined);
  const position = new Map(answer.columns.map(({ name }, k) => [name, k]));
  const renderRow = (row: readonly DuckDBValue[]) => {
    const read: ReadCell = (name) => row[position.get(name) ?? -1];
    return html`<tr role="row">${shown.map(({ column, label, show }, k) => {
      const value = read(column.name) ?? null;
      return renderCell({ column, label }, value, show(value, read), k === 0);
    })}</tr>\n`;
  };
  // The script may sort only complete tables.
  const whole = answer.hasMore ? '' : html` data-whole=""`;
  const analysis = question === undefined ? '' : html` data-analysis="${question.analysis}"`;
  return html`<div class="frame cards">
<table role="table"${whole}${analysis}>
<caption><span>${view.caption}</span></caption>
<thead role="rowgroup"><tr role="row">${shown.map(({ column, label }) => renderHead(column, label, question?.order, view))}</tr></thead>
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

/** Chooses the columns. For a question, columns without a value are left out, and the first column heads the rows. */
function chooseColumns(answer: Answer, view: TableView, isQuestion: boolean): Drawn[] {
  const { columns } = answer;
  const first = firstName(view);
  const wanted = view.columns ?? columns.map(({ name }) => name);
  return wanted.flatMap((one) => {
    const { name, label, show } = typeof one === 'string' ? ({ name: one } as ShownColumn) : one;
    const column = columns.find((other) => other.name === name);
    if (column === undefined || (isQuestion && name !== first && isEmpty(answer, name))) return [];
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
  const isBy = order?.by === column.name;
  const direction = isBy ? (order.isDescending ? 'descending' : 'ascending') : 'none';
  // The first click on a column of numbers sorts from the largest.
  const isNextDescending = isBy ? !order.isDescending : isNumeric(column);
  const content =
    sortAddress === undefined
      ? label
      : html`${onlyIn('served', html`<a href="${sortAddress(column.name, isNextDescending)}" rel="nofollow">${label}</a>`)}${onlyIn('written', label)}`;
  const sorted = sortAddress === undefined ? '' : html` aria-sort="${direction}"`;
  return html`<th scope="col" role="columnheader"${kind}${sorted} data-name="${column.name}">${content}</th>`;
}

/**
 * Renders a cell. If the value is shown in another form, the cell also carries the raw value for the script, which
 * sorts and copies rows.
 */
function renderCell(
  { column, label }: Pick<Drawn, 'column' | 'label'>,
  value: DuckDBValue,
  content: Content,
  isHeader: boolean,
): Html {
  const kind = isNumeric(column) ? html` class="number"` : '';
  const exact = value === null || typeof value === 'string' ? '' : html` data-value="${valueToText(value)}"`;
  if (isHeader) return html`<th scope="row" role="rowheader"${kind}${exact}>${content}</th>`;
  return html`<td role="cell"${kind}${exact} data-label="${label}">${content}</td>`;
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
  const command = describeCommand(question);
  return html`<p class="tools">${onlyIn('served', html`<a href="${analysisAddress(question)}#sql">SQL and all columns</a>${links}`)}${onlyIn('written', command === undefined ? '' : html`On the command line: <code>${command}</code>`)}</p>`;
}

/** Shows `Rows 51 to 100`, with links to the rows before and after. */
export function renderPager(
  { rows, hasMore }: Answer,
  { offset = 0, limit }: Question,
  address: (changes: { from: string }) => string,
): Html {
  const from = (row: number) => address({ from: row > 0 ? String(row) : '' });
  const before = offset > 0 ? html`<a href="${from(offset - limit)}" rel="prev">Before</a>` : '';
  const after = hasMore ? html`<a href="${from(offset + limit)}" rel="next">Next</a>` : '';
  const shown = rows.length;
  if (offset === 0 && !hasMore) return html``;
  const range = shown === 0 ? '' : html`<span>${formatCount(offset + 1)} to ${formatCount(offset + shown)}</span>`;
  return onlyIn('served', html`<nav class="pager" aria-label="Pages of rows">${before}${range}${after}</nav>`);
}
