import { DuckDBListValue, type DuckDBValue } from '@duckdb/node-api';
import { formatCount } from '../formats/count.js';
import { type Content, type Html, html } from '../formats/html.js';
import { valueToText } from '../sql/value-json.js';
import { type CellColumn, countDecimals, isNumeric, type ReadCell, showCell, toLabel } from './cells.js';
import { describeCommand } from './command.js';
import { onlyIn } from './edition.js';
import { foreign } from './format.js';
import { type Answer, listVariables, type Question } from './question.js';

export interface ShownColumn {
  name: string;
  label?: string;
  /** Renders the value in place of the default rendering. */
  show?: (value: DuckDBValue, read: ReadCell) => Content;
  /**
   * A number that the query doesn't return. The page sorts rows by it, and copied tables contain it under this name.
   */
  copied?: { name: string; read(row: ReadCell): string | undefined } | undefined;
}

export interface TableView {
  caption: Content;
  /** The columns to show; by default, all columns that have a value. Columns that are not in the answer are skipped. */
  columns?: readonly (string | ShownColumn)[];
  /** The name of a column that a phone shows on a separate line, before the columns in `brief`. */
  line?: string;
  /**
   * The columns that a phone shows beside the first column until the reader asks for all; by default, the next four.
   */
  brief?: readonly string[];
  /** True for the main table of a page, which shows more rows at first. */
  isLong?: boolean;
  /** The columns that the reader has hidden, by their names in copied tables. */
  hidden?: ReadonlySet<string>;
  /** True to list the columns that are omitted because no row has a value. */
  namesEmpty?: boolean;
  /** Returns the address of the page in another sort order. If undefined, columns can't be sorted. */
  sortAddress?: (by: string, isDescending: boolean) => string;
  /** The content below the table if there are more rows. Defaults to a sentence with the number of rows shown. */
  moreNote?: Content;
  /** The content to show in place of a table without rows. */
  empty?: Content;
}

/** The number of columns that a phone shows until the reader asks for all. */
const BRIEF_COLUMNS = 4;
/** The numbers of rows that phones and wide screens show until the reader asks for all. The style sheet repeats them. */
const BRIEF = { rows: { phone: 5, wide: 10 }, longRows: { phone: 25, wide: 50 } };

/** Renders the rows of an answer as a table, with links to download them. */
export function renderAnswer(answer: Answer, question: Question, view: TableView): Html {
  if (answer.rows.length === 0) return html`<p class="soft">${view.empty ?? 'No rows.'}</p>${renderTools(question)}`;
  return html`${renderTable(answer, view, question)}
${view.namesEmpty === true ? nameEmpty(answer, view) : ''}${answer.hasMore ? (view.moreNote ?? renderMore(answer)) : ''}${renderTools(question)}`;
}

const renderMore = ({ rows }: Answer): Html =>
  html`<p class="soft">The first ${formatCount(rows.length)} rows; the files have all.</p>`;

/** Renders a sentence that lists the columns without a value; empty if all columns have values. */
function nameEmpty(answer: Answer, { columns = [] }: TableView): Content {
  const empty = columns.filter((one) => isEmpty(answer, nameOf(one))).map(labelOf);
  return empty.length === 0 ? '' : html`<p class="soft">Without a value: ${foreign(empty.join(', '), 1000)}.</p>`;
}

/** True if no row has a value in the column. An empty list doesn't count as a value. */
export function isEmpty({ columns, rows }: Answer, name: string): boolean {
  const at = columns.findIndex((column) => column.name === name);
  const hasValue = (value: DuckDBValue = null) =>
    value !== null && !(value instanceof DuckDBListValue && value.items.length === 0);
  return !rows.some((row) => hasValue(row[at]));
}

/** Renders the rows of an answer as a table with all columns. */
export const renderRows = (answer: Answer, caption: string): Html => renderTable(answer, { caption, isLong: true });

/** Renders a table. The cells of the first column are row headers. */
function renderTable(answer: Answer, view: TableView, question?: Question): Html {
  const shown = chooseColumns(answer, view, question !== undefined);
  const position = new Map(answer.columns.map(({ name }, k) => [name, k]));
  const renderRow = (row: readonly DuckDBValue[]) => {
    const read: ReadCell = (name) => row[position.get(name) ?? -1];
    return html`<tr role="row">${shown.map((drawn, k) => {
      const value = read(drawn.column.name) ?? null;
      const exact = drawn.copied === undefined ? findExact(value) : (drawn.copied.read(read) ?? '');
      return renderCell(drawn, exact, drawn.show(value, read), k === 0);
    })}</tr>\n`;
  };
  // Marks a table that has all rows, because the script sorts only such tables.
  const whole = answer.hasMore ? '' : html` data-whole=""`;
  const analysis = question === undefined ? '' : html` data-analysis="${question.analysis}"`;
  const isLong = view.isLong === true;
  const most = isLong ? BRIEF.longRows : BRIEF.rows;
  const many = answer.rows.length > most.phone;
  const isCut = many || !shown.every(({ isBrief }) => isBrief);
  const kind = answer.rows.length > most.wide ? 'all wide-too' : 'all';
  const what = many ? html`all ${formatCount(answer.rows.length)} rows<span> with all values</span>` : 'all values';
  const all = isCut ? html`<label class="${kind}"><input type="checkbox"><span>Show ${what}</span></label>\n` : '';
  return html`<div class="frame cards${isLong ? ' long' : ''}">
<table role="table"${whole}${analysis}>
<caption><span>${view.caption}</span></caption>
<thead role="rowgroup"><tr role="row">${shown.map((drawn) => renderHead(drawn, question?.order, view))}</tr></thead>
<tbody role="rowgroup">
${answer.rows.map(renderRow)}</tbody>
</table>
${all}</div>`;
}

interface Drawn extends Pick<ShownColumn, 'copied'> {
  column: CellColumn;
  /** True if a phone shows the column before the reader asks for all. */
  isBrief: boolean;
  /** True if a phone shows the column on a separate line. */
  isLine: boolean;
  label: string;
  show: (value: DuckDBValue, read: ReadCell) => Content;
}

/** Returns the name that a column has in copied tables. */
export const nameColumn = (column: string | ShownColumn): string =>
  typeof column === 'string' ? column : (column.copied?.name ?? column.name);

/** Returns the head of a column. */
export const labelOf = (column: string | ShownColumn): string =>
  (typeof column === 'string' ? undefined : column.label) ?? toLabel(nameOf(column));

const nameOf = (one: string | ShownColumn) => (typeof one === 'string' ? one : one.name);
const firstName = ({ columns: [first] = [] }: TableView) => (first === undefined ? undefined : nameOf(first));

/** Chooses the columns to show. If `isQuestion` is true, omits columns without a value, except the first. */
function chooseColumns(answer: Answer, view: TableView, isQuestion: boolean): Drawn[] {
  const { columns } = answer;
  const first = firstName(view);
  const wanted = view.columns ?? columns.map(({ name }) => name);
  const drawn = wanted.flatMap((one, k) => {
    if (k > 0 && view.hidden?.has(nameColumn(one)) === true) return [];
    const { name, label, show, copied } = typeof one === 'string' ? ({ name: one } as ShownColumn) : one;
    const at = columns.findIndex((other) => other.name === name);
    const found = columns[at];
    if (found === undefined || (isQuestion && name !== first && isEmpty(answer, name))) return [];
    const column = { ...found, decimals: countDecimals(answer.rows.map((row) => row[at] ?? null)) };
    return [
      {
        column,
        copied,
        isBrief: true,
        isLine: name === view.line,
        label: label ?? toLabel(name),
        show: show ?? ((value: DuckDBValue, read: ReadCell) => showCell(column, value, read)),
      },
    ];
  });
  const isBrief = ({ column }: Drawn, k: number) =>
    k === 0 ||
    column.name === view.line ||
    (view.brief === undefined ? k <= BRIEF_COLUMNS : view.brief.includes(column.name));
  return drawn.map((one, k) => ({ ...one, isBrief: isBrief(one, k) }));
}

/** Returns the class attribute of a column's cells; empty for text that phones show. */
function classOf(drawn: Pick<Drawn, 'column' | 'copied' | 'isBrief' | 'isLine'>): Content {
  const { isBrief, isLine } = drawn;
  const names = [isNumber(drawn) ? 'number' : '', isBrief ? '' : 'rest', isLine ? 'line' : ''].filter(
    (name) => name !== '',
  );
  return names.length === 0 ? '' : html` class="${names.join(' ')}"`;
}

const isNumber = ({ column, copied }: Pick<Drawn, 'column' | 'copied'>) => copied !== undefined || isNumeric(column);

function renderHead(drawn: Drawn, order: Question['order'], view: TableView): Html {
  const { column, label, copied } = drawn;
  // The server can't sort by a computed number that is not in the answer.
  const sortAddress = copied === undefined ? view.sortAddress : undefined;
  const isBy = order?.by === column.name;
  const direction = isBy ? (order.isDescending ? 'descending' : 'ascending') : 'none';
  // The first click on a column of numbers sorts in descending order.
  const isNextDescending = isBy ? !order.isDescending : isNumeric(column);
  const content =
    sortAddress === undefined
      ? label
      : html`${onlyIn('served', html`<a href="${sortAddress(column.name, isNextDescending)}" rel="nofollow">${label}</a>`)}${onlyIn('written', label)}`;
  const sorted = sortAddress === undefined ? '' : html` aria-sort="${direction}"`;
  return html`<th scope="col" role="columnheader"${classOf(drawn)}${sorted} data-name="${copied?.name ?? column.name}">${content}</th>`;
}

/** Returns a value as text if it may be shown in another form, or undefined if it is null or a string. */
const findExact = (value: DuckDBValue): string | undefined =>
  value === null || typeof value === 'string' ? undefined : valueToText(value);

/** Renders a cell. The script sorts and copies `exact` instead of the displayed text. */
function renderCell(drawn: Omit<Drawn, 'show'>, exact: string | undefined, content: Content, isHeader: boolean): Html {
  const kind = classOf(drawn);
  const value = exact === undefined ? '' : html` data-value="${exact}"`;
  if (isHeader) return html`<th scope="row" role="rowheader"${kind}${value}>${content}</th>`;
  return html`<td role="cell"${kind}${value} data-label="${drawn.label}">${content}</td>`;
}

export const DOWNLOADS = ['csv', 'parquet', 'arrow'] as const;
export type DownloadFormat = (typeof DOWNLOADS)[number];
const DOWNLOAD_NAMES: Readonly<Record<DownloadFormat, string>> = { csv: 'CSV', parquet: 'Parquet', arrow: 'Arrow' };

/** Returns the address of an analysis with these variables, or of its download in a format. */
export function analysisAddress(question: Pick<Question, 'analysis' | 'set'>, format?: DownloadFormat): string {
  const variables = new URLSearchParams(listVariables(question));
  const search = variables.size === 0 ? '' : `?${variables}`;
  return `/analyses/${question.analysis}${format === undefined ? '' : `.${format}`}${search}`;
}

export function renderTools(question: Pick<Question, 'analysis' | 'set'>): Html {
  const links = DOWNLOADS.map(
    (format) => html` · <a href="${analysisAddress(question, format)}" download>${DOWNLOAD_NAMES[format]}</a>`,
  );
  const command = describeCommand(question);
  return html`<p class="tools">${onlyIn('served', html`<a href="${analysisAddress(question)}#sql">SQL and all columns</a>${links}`)}${onlyIn('written', command === undefined ? '' : html`On the command line: <code>${command}</code>`)}</p>`;
}

/** Renders links to the previous and next rows, with a label such as `Lines 51 to 100`, where `what` is `Lines`. */
export function renderPager(
  { rows, hasMore }: { rows: readonly unknown[]; hasMore: boolean },
  { offset = 0, limit }: Pick<Question, 'offset' | 'limit'>,
  address: (changes: { from: string }) => string,
  what = '',
): Html {
  const from = (row: number) => address({ from: row > 0 ? String(row) : '' });
  const before = offset > 0 ? html`<a href="${from(offset - limit)}" rel="prev">Before</a>` : '';
  const after = hasMore ? html`<a href="${from(offset + limit)}" rel="next">Next</a>` : '';
  const shown = rows.length;
  if (offset === 0 && !hasMore) return html``;
  const range =
    shown === 0 ? '' : html`<span>${what} ${formatCount(offset + 1)} to ${formatCount(offset + shown)}</span>`;
  return onlyIn(
    'served',
    html`<nav class="pager" aria-label="Pages of ${what === '' ? 'rows' : what.toLowerCase()}">${before}${range}${after}</nav>`,
  );
}
