import { formatCount } from '../formats/count.js';
import { type Content, type Html, html } from '../formats/html.js';

/** A part of the page that the navigation links to. */
export interface Section {
  id: string;
  title: string;
  body: Content;
}

export function renderSection({ id, title, body }: Section): Html {
  return html`<section id="${id}" aria-labelledby="${id}-title">
<h2 id="${id}-title">${title}</h2>
${body}
</section>
`;
}

export function renderFigures(figures: readonly { name: string; value: Content; note?: Content }[]): Html {
  return html`<dl class="figures">${figures.map(
    ({ name, value, note }) =>
      html`<div><dt>${name}</dt><dd>${value}${note === undefined || note === '' ? '' : html` <small>${note}</small>`}</dd></div>\n`,
  )}</dl>`;
}

/** A chart between its title and its legend. */
export function renderFigure(title: Content, chart: Html, legend: Content = ''): Html {
  const under = typeof legend === 'string' && legend !== '' ? html`<p class="legend text">${legend}</p>` : legend;
  return html`<figure><figcaption>${title}</figcaption>${chart}${under}</figure>`;
}

export interface Column<Row> {
  label: string;
  cell: (row: Row) => Content;
  /** Right-aligns the cells. */
  numeric?: boolean;
  /** Leaves room for names below the numbers. */
  named?: boolean;
  /** Without it, the column can't be sorted. */
  sortBy?: (row: Row) => string | number;
}

/** A column that shows a number, and sorts by it. */
export function numberColumn<Row, Value extends number | bigint>(
  label: string,
  pick: (row: Row) => Value,
  format: (value: Value) => Content = formatCount,
): Column<Row> {
  return { label, numeric: true, sortBy: (row) => Number(pick(row)), cell: (row) => format(pick(row)) };
}

interface TableOptions<Row> {
  caption: Content;
  columns: Column<Row>[];
  rows: readonly Row[];
  /** A search box points to it. */
  id?: string;
  /** The order of `rows`. */
  sorted?: { by: string; order: 'ascending' | 'descending' };
  /** Rows beyond this number are behind a button; without the script, all are shown. */
  fold?: number;
  /** `data-` attributes of a row, for filters. */
  data?: (row: Row) => Record<string, string>;
  /** On a narrow screen, each row becomes a card with the labels beside the values. */
  cards?: boolean;
}

/**
 * A table whose first column heads its rows. Roles are spelled out, because browsers drop those of rows that the style
 * lays out as cards.
 */
export function renderTable<Row>(options: TableOptions<Row>): Html {
  const { caption, columns, rows, id, cards, fold, data } = options;
  const marks = (row: Row) => Object.entries(data?.(row) ?? {}).map(([name, value]) => html` data-${name}="${value}"`);
  const folds = fold !== undefined && rows.length > fold;
  const name = id === undefined ? '' : html` id="${id}"`;
  return html`<div class="${cards === true ? 'frame cards' : 'frame'}">
<table${name} role="table"${folds ? html` data-fold="${fold}"` : ''}>
<caption><span>${caption}</span></caption>
<thead role="rowgroup"><tr role="row">${columns.map((column) => renderHead(column, options.sorted))}</tr></thead>
<tbody role="rowgroup">
${rows.map((row) => html`<tr role="row"${marks(row)}>${columns.map((column, k) => renderCell(column, row, k === 0))}</tr>\n`)}</tbody>
</table>
</div>
${folds ? html`<p class="unfold" hidden>The first ${fold} of ${rows.length}. <button type="button">Show all</button></p>` : ''}
<p class="tools" hidden><button type="button" class="csv">Download as CSV</button></p>`;
}

function renderHead<Row>(column: Column<Row>, sorted: TableOptions<Row>['sorted']): Html {
  const { label, sortBy } = column;
  const kind = renderKind(column);
  if (sortBy === undefined) return html`<th scope="col" role="columnheader"${kind}>${label}</th>`;
  const order = sorted?.by === label ? sorted.order : 'none';
  return html`<th scope="col" role="columnheader"${kind} aria-sort="${order}" data-label="${label}"><button type="button">${label}</button></th>`;
}

function renderCell<Row>(column: Column<Row>, row: Row, isHeader: boolean): Html {
  const { label, cell, sortBy } = column;
  const kind = renderKind(column);
  const value = sortBy === undefined ? '' : html` data-sort="${sortBy(row)}"`;
  if (isHeader) return html`<th scope="row" role="rowheader"${kind}${value}>${cell(row)}</th>`;
  return html`<td role="cell"${kind}${value} data-label="${label}">${cell(row)}</td>`;
}

function renderKind<Row>({ numeric, named }: Column<Row>): Content {
  const kinds = [...(numeric === true ? ['number'] : []), ...(named === true ? ['named'] : [])];
  return kinds.length === 0 ? '' : html` class="${kinds.join(' ')}"`;
}
