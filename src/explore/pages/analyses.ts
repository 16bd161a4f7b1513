import { listAnalyses, readQuestion } from '../../analyze/analysis.js';
import { checkSet, describeType, readAbout, readVariables, type Variable } from '../../analyze/variables.js';
import { type Content, html } from '../../formats/html.js';
import { PricelakeError } from '../../io/errors.js';
import { readAnalysis } from '../../sql/model.js';
import { toLabel } from '../cells.js';
import { chartAnswer, hasChart } from '../charts/chart-answer.js';
import { describeCommand } from '../command.js';
import {
  changeAddress,
  type Page,
  type PageRequest,
  readOffset,
  readOrder,
  renderChoice,
  renderField,
  renderFilters,
  renderSection,
} from '../page.js';
import { type Answer, listVariables, type Question, showSql } from '../question.js';
import { isRefusedByDuckDb } from '../refusal.js';
import { renderAnswer, renderPager } from '../table.js';

const ROWS = 100;
const MOST_DRAWN = 5_000;

/** Every analysis with the question that it answers. */
export function analysesPage(): Page {
  const rows = listAnalyses().map((name) => {
    return html`<dt><a href="/analyses/${name}">${name}</a></dt><dd>${readQuestion(name)}</dd>\n`;
  });
  return {
    title: 'Analyses',
    body: html`<p>Each is one query. Its page has a form for what it reads, its rows, its SQL and its limits.</p><dl class="list">${rows}</dl>`,
  };
}

/** The variables of an analysis as an address gives them. */
export function readSet(analysis: string, search: URLSearchParams): Question['set'] {
  return Object.fromEntries(readVariables(analysis).map(({ name }) => [name, search.get(name) ?? '']));
}

/** A field of the form: a choice, or a text with the default in it. */
function renderVariable(variable: Variable, value: string): Content {
  const { name, kind, choices, about, isRequired } = variable;
  const unset = variable.default ?? (isRequired ? 'required' : 'any');
  const field =
    kind === 'choice'
      ? renderChoice(
          name,
          name,
          [{ value: '', label: unset }, ...choices.map((one) => ({ value: one, label: one }))],
          value,
        )
      : renderField(name, name, value, variable.default ?? (kind === 'choices' ? describeType(variable) : ''));
  return html`${field}<small>${about}</small>`;
}

/** A variable that is missing is no fault of the reader, who can't know it. */
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
  return html`<p>This analysis has no rows without some of its variables: fill in the form. <small>${message.split('\n', 1)}</small></p>`;
}

/** One analysis: form, rows, SQL, limits. */
export async function analysisPage(analysis: string, { search, ask, signal }: PageRequest): Promise<Page> {
  const path = `/analyses/${analysis}`;
  const variables = readVariables(analysis);
  const set = readSet(analysis, search);
  const order = readOrder(search);
  const offset = readOffset(search);
  const question: Question = { analysis, set, order, offset, limit: ROWS };
  const fields = variables.map((one) => renderVariable(one, set[one.name] ?? ''));
  const address = (changes: Record<string, string>) => changeAddress(path, search, { from: '', ...changes });
  const isSet = listVariables(question).length > 0;
  let refusal: Error | undefined;
  const rows = await renderRows().catch((error: unknown) => {
    signal.throwIfAborted();
    const isOurs = error instanceof PricelakeError && error.code === 'query';
    if (!isOurs && !isRefusedByDuckDb(error)) throw error;
    refusal = error;
    return explainRefusal(error, isSet);
  });
  const command = describeCommand(question);
  return {
    title: toLabel(analysis),
    ...(refusal !== undefined && (isSet || refusal instanceof PricelakeError) ? { status: 400 } : {}),
    body: html`${readAbout(readAnalysis(analysis))
      .split(/ (?=(?:Source|Exact|Limits): )/u)
      .map((part) => html`<p>${part}</p>\n`)}
${fields.length === 0 ? '' : html`<details${isSet || refusal !== undefined ? html` open` : ''}><summary>Variables</summary>${renderFilters(path, fields)}</details>`}
${rows}
${renderSection(
  'SQL',
  html`<pre id="sql" tabindex="0">${showSql(question)}</pre>
${command === undefined ? '' : html`<p>On the command line: <code>${command}</code></p>`}`,
)}`,
  };

  async function renderRows(): Promise<Content> {
    checkValues();
    const answer = await ask(question);
    return html`${await renderChart(answer)}${renderAnswer(answer, question, {
      caption: `Rows of ${analysis}`,
      more: '', // the pager says so
      sortAddress: (by, isDescending) => address({ sort: by, order: isDescending ? 'desc' : '' }),
    })}${renderPager(answer, question, address)}`;
  }

  /** A missing variable is no fault of somebody who opens the page: DuckDB says so. */
  function checkValues(): void {
    const given = Object.fromEntries(listVariables(question));
    try {
      checkSet(analysis, variables, given, { isWhole: false });
    } catch (error) {
      if (!(error instanceof PricelakeError)) throw error;
      throw new PricelakeError('query', error.message, error.facts, { cause: error });
    }
  }

  /** A chart needs all rows, in the order of the analysis; the table may have some of them. */
  async function renderChart(answer: Answer): Promise<Content> {
    if (!hasChart(analysis)) return '';
    const isWhole = !answer.hasMore && offset === 0 && order === undefined;
    return chartAnswer(analysis, isWhole ? answer : await ask({ analysis, set, limit: MOST_DRAWN }));
  }
}
