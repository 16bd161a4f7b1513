import type { DuckDBValue } from '@duckdb/node-api';
import { readQuestion } from '../../analyze/analysis.js';
import { checkSet, readAbout, readVariables, type Variable } from '../../analyze/variables.js';
import { countOf, formatCount } from '../../formats/count.js';
import { type Content, html } from '../../formats/html.js';
import { PricelakeError } from '../../io/errors.js';
import { readAnalysis } from '../../sql/model.js';
import { findTitle } from '../analysis-groups.js';
import { isNumeric, showCell, toLabel } from '../cells.js';
import { showChangedValues } from '../changed-values.js';
import { chartAnswer, hasChart } from '../charts/chart-answer.js';
import { labelColumn } from '../column-labels.js';
import { describeCommand } from '../command.js';
import { foreign } from '../format.js';
import { readHidden, renderColumnChoice } from '../hidden-columns.js';
import { changeAddress, type Page, type PageRequest, readOffset, readOrder } from '../page.js';
import { type Answer, listVariables, type Question, showSql } from '../question.js';
import { isRefusedByDuckDb } from '../refusal.js';
import { isEmpty, renderAnswer, renderPager, type ShownColumn, type TableView } from '../table.js';
import { readAll } from '../values.js';
import { askForNames, type KnownNames, labelVariable, renderForm } from './analysis-form.js';

const ROWS = 50;
const MOST_DRAWN = 5_000;
const SUGGESTED = 10;

/** Reads the variables of an analysis from the address. */
export function readSet(analysis: string, search: URLSearchParams): Question['set'] {
  return Object.fromEntries(readVariables(analysis).map(({ name }) => [name, search.get(name) ?? '']));
}

/** Explains why an analysis has no rows. If a required variable isn't set yet, asks the reader to set it. */
function explainRefusal(error: Error, analysis: string, isSet: boolean): Content {
  const { message } = error;
  if (error instanceof PricelakeError) {
    return html`<div class="finding grave" role="alert"><pre>${message}</pre><p>${error.facts.hint}</p></div>`;
  }
  if (needsRates(error)) {
    return html`<p>This analysis needs exchange rates, which pages don't have. On the command line, <code>pricelake query --analysis ${analysis} --fx rates.csv --fx-base EUR</code> reads a CSV file with the columns <code>date,currency,rate</code>.</p>`;
  }
  if (needsWeights(error)) {
    return html`<p>This analysis needs weights, which pages don't have. On the command line, <code>pricelake query --analysis ${analysis} --weights weights.csv</code> reads a CSV file with the columns <code>category,weight</code>.</p>`;
  }
  if (isSet) return html`<div class="finding grave" role="alert"><pre>${message}</pre></div>`;
  return html`<p>This analysis has no rows without some of its settings: fill in the form. <small>${message.split('\n', 1)}</small></p>`;
}

const needsRates = ({ message }: Error) => message.includes('Table with name rates does not exist');
const needsWeights = ({ message }: Error) => /Table with name (?:weights|tree) does not exist/u.test(message);
const needsFile = (error: Error) => needsRates(error) || needsWeights(error);

/** Shows one analysis: its form and its rows, with its documentation and SQL collapsed. */
export async function analysisPage(analysis: string, { search, ask, signal, snapshot }: PageRequest): Promise<Page> {
  const path = `/analyses/${analysis}`;
  const variables = readVariables(analysis);
  const isOffered = ({ name }: Variable) => name !== 'in_list' || snapshot.list !== undefined || search.has(name);
  const set = readSet(analysis, search);
  const order = readOrder(search);
  const offset = readOffset(search);
  const question: Question = { analysis, set, order, offset, limit: ROWS };
  const address = (changes: Record<string, string>) => changeAddress(path, search, { from: '', ...changes });
  const isSet = listVariables(question).length > 0;
  const title = findTitle(analysis) ?? toLabel(analysis);
  const names = await askForNames(ask);
  let hidden: ReadonlySet<string> = new Set();
  let columns: ShownColumn[] = [];
  let isUsual = false;
  let refusal: Error | undefined;
  const rows = await renderRows().catch((error: unknown) => {
    signal.throwIfAborted();
    const isOurs = error instanceof PricelakeError && error.code === 'query';
    if (!isOurs && !isRefusedByDuckDb(error)) throw error;
    refusal = error;
    return isWaiting() && !(error instanceof PricelakeError) && !needsFile(error)
      ? askForValues()
      : explainRefusal(error, analysis, isSet);
  });
  const choice = columns.length > 1 ? renderColumnChoice(columns, hidden, { isUsual }) : '';
  const form = await renderForm(path, variables.filter(isOffered), set, names, ask, choice);
  const command = describeCommand(question);
  const about = readAbout(readAnalysis(analysis).replace(/^-- part of: .*\n/u, '')).split(
    / (?=(?:Source|Exact|Limits): )/u,
  );
  return {
    title,
    ...(refusal !== undefined && (isSet || refusal instanceof PricelakeError) ? { status: 400 } : {}),
    body: html`<p class="about">${readQuestion(analysis)}</p>
${form}${rows}
<details><summary>What the columns mean, sources and limits</summary>${about.map((part) => html`<p>${part}</p>\n`)}</details>
<details><summary>SQL</summary><pre id="sql" tabindex="0">${showSql(question)}</pre>
${command === undefined ? '' : html`<p>On the command line: <code>${command}</code></p>`}</details>`,
  };

  async function renderRows(): Promise<Content> {
    checkValues();
    const answer = await ask(question);
    if (answer.rows.length === 0 && isWaiting()) return askForValues();
    const suggested = answer.rows.length === 0 && (set.product ?? '') !== '' ? await suggestProducts() : '';
    if (suggested !== '') return suggested;
    const found = chooseColumns(analysis, answer, names);
    columns = found.columns;
    isUsual = found.usual.length > 0;
    hidden = readHidden(search, found.usual);
    return html`${await renderChart(answer)}${renderAnswer(answer, question, {
      caption: html`${describeRows(answer, offset)}${describeShared(answer)}`,
      columns,
      ...choosePhoneColumns(
        answer,
        columns.filter((column) => !hidden.has(column.name)),
      ),
      hidden,
      isLong: true,
      namesEmpty: true,
      moreNote: '', // the pager links to the other rows
      sortAddress: (by, isDescending) => address({ sort: by, order: isDescending ? 'desc' : '' }),
    })}${renderPager(answer, question, address)}`;
  }

  /** True if a variable without a default has no value yet. */
  function isWaiting(): boolean {
    return variables.some(({ name, isRequired }) => isRequired && set[name] === '');
  }

  function askForValues(): Content {
    const missing = variables.filter(({ name, isRequired }) => isRequired && set[name] === '');
    const labels = missing.map((one) => labelVariable(one)).join(' and ');
    return html`<p>To see rows, fill in ${labels}.</p>`;
  }

  /** Lists products that have the words typed as the product. Empty if the text is the id of a product. */
  async function suggestProducts(): Promise<Content> {
    const found = readAll(await ask({ analysis: 'find_products', set: { q: set.product ?? '' }, limit: SUGGESTED }));
    const products = new Map(found.map((read) => [String(read('product_id')), String(read('title'))]));
    if (products.size === 0 || products.has(set.product ?? '')) return '';
    return html`<p>Choose one of the products with these words:</p>
<ul class="plain">${[...products].map(([product, name]) => html`<li><a href="${address({ product })}">${foreign(name, 160)}</a> <small>${foreign(product, 80)}</small></li>\n`)}</ul>`;
  }

  /** Checks the given values, and ignores missing ones. @throws PricelakeError `query` if a value is invalid */
  function checkValues(): void {
    const given = Object.fromEntries(listVariables(question));
    try {
      checkSet(analysis, variables, given, { isWhole: false });
    } catch (error) {
      if (!(error instanceof PricelakeError)) throw error;
      throw new PricelakeError('query', error.message, error.facts, { cause: error });
    }
  }

  /** Renders the chart, which needs all rows in the analysis's own order, even if the table shows fewer rows. */
  async function renderChart(answer: Answer): Promise<Content> {
    if (!hasChart(analysis)) return '';
    const isWhole = !answer.hasMore && offset === 0 && order === undefined;
    return chartAnswer(
      analysis,
      isWhole ? answer : await ask({ analysis, set, limit: MOST_DRAWN }),
      names.categoryName,
    );
  }
}

/** Columns for programs. Pages hide them, and downloads include them. */
const MACHINE = new Set([
  'item_id',
  'old_item_id',
  'new_item_id',
  'change_id',
  'run_id',
  'attribution',
  'of_kind',
  'known_until',
  'site_ids',
  'findings', // reason says the same in words
]);
/** Columns with the time that a row describes. If all rows share a value, the table's caption shows it. */
const TIMES = ['since', 'until', 'time_zone'];

/** Returns the columns of `TIMES` that have the same value in all rows. */
const listShared = ({ columns, rows }: Answer): (Answer['columns'][number] & { value: DuckDBValue })[] =>
  columns.flatMap((column, at) => {
    const value = rows[0]?.[at] ?? null;
    const isShared = rows.every((row) => String(row[at]) === String(value));
    return TIMES.includes(column.name) && value !== null && isShared ? [{ ...column, value }] : [];
  });

function describeShared(answer: Answer): Content {
  const read = () => null;
  return listShared(answer).map(
    (column) => html`; ${toLabel(column.name).toLowerCase()} ${showCell(column, column.value, read)}`,
  );
}

/** Columns that identify a row for readers, in order of preference. */
const HEADS = ['title', 'shop', 'category_name', 'category_slug', 'product_id'];

/** Columns with details of spreads. They come after the columns with the trusted figures. */
const DETAILS = new Set(['offers', 'p25', 'p75', 'mean', 'stddev', 'spread', 'trusted_spread', 'grade_reason']);

/** The number of columns that a page shows until the reader chooses, because more don't fit a wide screen. */
const MOST_SHOWN = 14;

/** Describes which rows of the analysis are shown, such as `20 rows` or `Rows 51 to 100`. */
function describeRows({ rows, hasMore }: Answer, offset: number): string {
  return offset === 0 && !hasMore
    ? countOf(rows.length, 'row')
    : `Rows ${formatCount(offset + 1)} to ${formatCount(offset + rows.length)}`;
}

/** Text columns that a phone may show on a separate line below the first column, in order of preference. */
const LINES = ['shop', 'second_shop', 'follower', 'new_title', 'other_title'];

/** Chooses the columns that a phone shows: a second shop or title, if any, and the first numbers and times. */
function choosePhoneColumns(answer: Answer, [, ...columns]: readonly ShownColumn[]): Pick<TableView, 'line' | 'brief'> {
  const shown = columns.filter(({ name }) => !isEmpty(answer, name));
  const line = LINES.find((name) => shown.some((column) => column.name === name));
  const isFact = ({ name }: ShownColumn) => {
    const column = answer.columns.find((one) => one.name === name);
    return column !== undefined && (isNumeric(column) || /^(?:kind|currency|day|week|period|.*_at)$/u.test(name));
  };
  const others = shown.filter(({ name }) => name !== line);
  const brief = [...others.filter(isFact), ...others.filter((one) => !isFact(one))].slice(0, 4);
  return { ...(line === undefined ? {} : { line }), brief: brief.map(({ name }) => name) };
}

/**
 * Puts the column that identifies rows first, and shows names in place of ids where rows have names. Columns that
 * repeat another column in a longer or less trusted form come last. `usual` has the columns that don't fit a wide
 * screen.
 */
function chooseColumns(
  analysis: string,
  answer: Answer,
  names: KnownNames,
): { columns: ShownColumn[]; usual: string[] } {
  const all = answer.columns.map(({ name }) => name);
  const has = (name: string) => all.includes(name);
  const isNamed = (name: string) =>
    (name.endsWith('site_id') && (has(name.replace(/site_id$/u, 'shop')) || has(name.replace(/_?site_id$/u, '')))) ||
    (name === 'product_id' && has('title')) ||
    (name === 'category_slug' && has('category_name'));
  const shared = new Set(listShared(answer).map(({ name }) => name));
  const shown = all.filter((name) => !MACHINE.has(name) && !shared.has(name) && !isNamed(name));
  // An empty column can't identify rows, so it ranks last.
  const rank = (name: string) =>
    isEmpty(answer, name) ? HEADS.length + 1 : HEADS.includes(name) ? HEADS.indexOf(name) : HEADS.length;
  const isSecond = (name: string) =>
    has(`trusted_${name}`) ||
    (has('trusted_min') && DETAILS.has(name)) ||
    (name === 'category_path' && has('category_name'));
  const isText = (name: string) => answer.columns.some((column) => column.name === name && !isNumeric(column));
  const columns = (shown.length === 0 ? all : shown)
    .sort((a, b) => rank(a) - rank(b) || Number(isSecond(a)) - Number(isSecond(b)))
    .map((name): ShownColumn => {
      if (name.endsWith('site_id')) {
        const label = labelColumn(analysis, name.replace(/site_id$/u, 'shop'));
        return {
          name,
          label,
          show: (value) => showName(value === null ? undefined : String(value), names.site, '/shops/'),
        };
      }
      if (name === 'category_slug') {
        return {
          name,
          label: 'Category',
          show: (value) => showName(value === null ? undefined : String(value), names.categoryName),
        };
      }
      if (name === 'changes' && isText(name))
        return { name, label: toLabel(name), show: (value) => showChangedValues(String(value ?? '{}')) };
      return { name, label: labelColumn(analysis, name) };
    });
  const filled = columns.filter(({ name }) => !isEmpty(answer, name));
  return { columns, usual: filled.slice(MOST_SHOWN).map(({ name }) => name) };
}

function showName(value: string | undefined, known: ReadonlyMap<string, string>, path?: string): Content {
  if (value === undefined) return html`<span class="none">–</span>`;
  const name = foreign(known.get(value) ?? value, 80);
  return path === undefined ? name : html`<a href="${path}${value}">${name}</a>`;
}
