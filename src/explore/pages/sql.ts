import { countOf, formatCount } from '../../formats/count.js';
import { html } from '../../formats/html.js';
import { PricelakeError } from '../../io/errors.js';
import { loadTableSchema } from '../../tables/schemas.js';
import { TABLE_NAMES } from '../../tables/table.js';
import { type Page, type PageRequest, renderSection } from '../page.js';
import { QUESTION_MS, toAnswer } from '../question.js';
import { renderRows } from '../table.js';
import { withUserRows } from '../user-query.js';

const MOST_ROWS = 1000;
const EXAMPLE =
  'SELECT site_name, count(*) AS listings\nFROM items\nWHERE is_listed\nGROUP BY ALL\nORDER BY listings DESC';

/** Runs a SELECT statement that the reader types, and shows its rows. */
export async function sqlPage({ snapshot, search, signal }: PageRequest): Promise<Page> {
  const sql = search.get('sql') ?? '';
  const form = html`<form class="sql" action="/sql"><label for="sql">One SELECT, in DuckDB's SQL. It reads the tables of the lake and nothing else; at most ${formatCount(MOST_ROWS)} rows are shown.</label>
<textarea id="sql" name="sql" rows="10" spellcheck="false" autocapitalize="off" data-complete="words">${sql === '' ? EXAMPLE : sql}</textarea>
<button>Run</button></form>`;
  return { title: 'SQL', body: html`${form}${sql === '' ? '' : await answer()}${renderTables()}` };

  async function answer() {
    const begin = performance.now();
    try {
      const found = await withUserRows(
        snapshot,
        { sql, limit: MOST_ROWS, signal, most: QUESTION_MS },
        async (connection, rows) => toAnswer(await connection.runAndReadAll(rows), MOST_ROWS),
      );
      const seconds = ((performance.now() - begin) / 1000).toFixed(2);
      const limit = found.hasMore ? `; the first ${formatCount(MOST_ROWS)} rows are shown` : '';
      return renderRows(found, `${countOf(found.rows.length, 'row')} in ${seconds} s${limit}`);
    } catch (error) {
      signal.throwIfAborted();
      if (!(error instanceof Error)) throw error;
      const hint = error instanceof PricelakeError ? error.facts.hint : undefined;
      return html`<div class="finding grave" role="alert"><pre>${error.message}</pre>${hint === undefined ? '' : html`<p>${hint}</p>`}</div>`;
    }
  }
}

function renderTables() {
  const tables = TABLE_NAMES.map((name) => {
    const { description, columns } = loadTableSchema(name);
    return html`<details><summary><code>${name}</code> ${description}</summary><dl class="columns">${columns.map(
      (column) =>
        html`<dt><code data-word="${column.name}">${column.name}</code> <small>${column.type}</small></dt><dd>${column.description}</dd>`,
    )}</dl></details>`;
  });
  return renderSection(
    'Tables',
    html`<p>View <code>price_spells</code> has every price of every listing, from when to when.</p><div class="names">${tables}</div>`,
  );
}
