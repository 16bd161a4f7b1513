import type { DuckDBValue } from '@duckdb/node-api';
import { readQuestion } from '../../analyze/analysis.js';
import { checkSet, readAbout, readVariables, type Variable } from '../../analyze/variables.js';
import { type Content, html } from '../../formats/html.js';
import { PricelakeError } from '../../io/errors.js';
import { readAnalysis } from '../../sql/model.js';
import { findTitle } from '../analysis-groups.js';
import { showCell, toLabel } from '../cells.js';
import { chartAnswer, hasChart } from '../charts/chart-answer.js';
import { describeCommand } from '../command.js';
import { foreign } from '../format.js';
import { readHidden, renderColumnChoice } from '../hidden-columns.js';
import { changeAddress, type Page, type PageRequest, readOffset, readOrder } from '../page.js';
import { type Answer, listVariables, type Question, showSql } from '../question.js';
import { isRefusedByDuckDb } from '../refusal.js';
import { isEmpty, renderAnswer, renderPager, type ShownColumn } from '../table.js';
import { askForNames, type KnownNames, renderForm } from './analysis-form.js';

const ROWS = 50;
const MOST_DRAWN = 5_000;

/** Reads the variables of an analysis from the address. */
export function readSet(analysis: string, search: URLSearchParams): Question['set'] {
  return Object.fromEntries(readVariables(analysis).map(({ name }) => [name, search.get(name) ?? '']));
}

/** Explains why an analysis has no rows. If a required variable isn't set yet, asks the reader to set it. */
function explainRefusal(error: Error, isSet: boolean): Content {
  const { message } = error;
  if (error instanceof PricelakeError) {
    return html`<div class="finding grave" role="alert"><pre>${message}</pre><p>${error.facts.hint}</p></div>`;
  }
  if (message.includes('Table with name rates does not exist')) {
    return html`<p>This analysis needs exchange rates, which pages don't have. On the command line, <code>pricelake query --analysis NAME --fx rates.csv --fx-base EUR</code> reads a CSV file with the columns <code>date,currency,rate</code>.</p>`;
  }
  if (/Table with name (?:weights|tree) does not exist/u.test(message)) {
    return html`<p>This analysis needs weights, which pages don't have. On the command line, <code>pricelake query --analysis NAME --weights weights.csv</code> reads a CSV file with the columns <code>category,weight</code>.</p>`;
  }
  if (isSet) return html`<div class="finding grave" role="alert"><pre>${message}</pre></div>`;
  return html`<p>This analysis has no rows without some of its settings: fill in the form. <small>${message.split('\n', 1)}</small></p>`;
}

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
  const hidden = readHidden(search);
  let columns: ShownColumn[] = [];
  let refusal: Error | undefined;
  const rows = await renderRows().catch((error: unknown) => {
    signal.throwIfAborted();
    const isOurs = error instanceof PricelakeError && error.code === 'query';
    if (!isOurs && !isRefusedByDuckDb(error)) throw error;
    refusal = error;
    return explainRefusal(error, isSet);
  });
  const choice = columns.length > 1 ? renderColumnChoice(columns, hidden) : '';
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
    columns = chooseColumns(answer, names);
    return html`${await renderChart(answer)}${renderAnswer(answer, question, {
      caption: html`Rows of ${title}${describeShared(answer)}`,
      columns,
      hidden,
      namesEmpty: true,
      moreNote: '', // the pager links to the other rows
      sortAddress: (by, isDescending) => address({ sort: by, order: isDescending ? 'desc' : '' }),
    })}${renderPager(answer, question, address)}`;
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

  /** Renders the chart, which needs all rows in the analysis's own order, even if the table shows fewer. */
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

/** Labels of columns whose names are abbreviations. */
const LABELS: Readonly<Record<string, string>> = { geks_jevons: 'GEKS-Jevons', tpd: 'Time-product dummy' };

/** Puts the column that identifies rows first, and shows names in place of ids where rows have names. */
function chooseColumns(answer: Answer, names: KnownNames): ShownColumn[] {
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
  return (shown.length === 0 ? all : shown)
    .sort((a, b) => rank(a) - rank(b))
    .map((name): ShownColumn => {
      if (name.endsWith('site_id')) {
        const label = toLabel(name.replace(/site_id$/u, 'shop'));
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
      return name in LABELS ? { name, label: LABELS[name] as string } : { name };
    });
}

function showName(value: string | undefined, known: ReadonlyMap<string, string>, path?: string): Content {
  if (value === undefined) return html`<span class="none">–</span>`;
  const name = foreign(known.get(value) ?? value, 80);
  return path === undefined ? name : html`<a href="${path}${value}">${name}</a>`;
}
