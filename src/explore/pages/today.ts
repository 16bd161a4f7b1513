import { DuckDBTimestampTZValue, type DuckDBValue } from '@duckdb/node-api';
import { formatCount } from '../../formats/count.js';
import { type Content, html } from '../../formats/html.js';
import { formatPercent } from '../../report/format.js';
import { renderFigures } from '../../report/layout.js';
import { changeAddress, type Page, type PageRequest, renderChoice, renderFilters, renderSection } from '../page.js';
import { askPast } from '../past.js';
import { type Answer, type Question, type ReadValue, readFirst, readRow } from '../question.js';
import { analysisAddress, renderAnswer, type ShownColumn } from '../table.js';
import { listCurrencies } from './products.js';

const ROWS = 8;
const WEEK_MS = 7 * 86_400_000;

const SINCE = [
  { value: 'run', label: 'the run before' },
  { value: 'day', label: 'a day ago' },
  { value: 'week', label: 'a week ago' },
];

/** Kinds of movers.sql with their words. */
const KINDS = {
  fall: 'Falls',
  rise: 'Rises',
  new: 'New',
  back: 'Back',
  removed: 'Removed',
  gone: 'Gone',
} as const;

export const MOVES: readonly (string | ShownColumn)[] = [
  'title',
  'shop',
  'kind',
  { name: 'price_before', label: 'Before' },
  'price',
  'currency',
  { name: 'change_pct', label: 'Change' },
  { name: 'rank_before', label: 'Place before' },
  { name: 'rank_after', label: 'Place now' },
  { name: 'shops_after', label: 'of shops' },
  { name: 'moved_at', label: 'When' },
];

/** What moved, how whole and fresh the copy is, and what needs attention. */
export async function todayPage(request: PageRequest): Promise<Page> {
  const { search, ask, snapshot } = request;
  const since = SINCE.find(({ value }) => value === search.get('since'))?.value ?? 'run';
  const currency = search.get('currency') ?? '';
  const overview: Question = { analysis: 'report_overview', set: {}, limit: 1 };
  const checks: Question = { analysis: 'report_checks', set: {}, limit: 500 };
  const summary: Question = { analysis: 'spread_summary', set: { currency }, limit: 1 };
  const widest: Question = { analysis: 'widest_spreads', set: { currency, top: String(ROWS) }, limit: ROWS };
  const [held, checked, summed, spreads, currencies] = await Promise.all([
    ask(overview),
    ask(checks),
    ask(summary),
    ask(widest),
    listCurrencies(ask),
  ]);
  const readHeld = readFirst(held);
  const moves: Question = {
    analysis: 'movers',
    set: { currency, top: String(ROWS), ...chooseMoment(since, snapshot.run?.number, readHeld('newest_seen')) },
    limit: ROWS * Object.keys(KINDS).length,
  };
  const past = await askPast(request, moves);
  const readSummed = readFirst(summed);
  const median = readSummed('median_pct');
  return {
    title: 'Today',
    ...past.again,
    body: html`${renderFilters('/', [
      renderChoice('since', 'Since', SINCE, since),
      renderChoice('currency', 'Currency', [{ value: '', label: 'any' }, ...currencies], currency),
    ])}
${past.answer === undefined ? past.render({ caption: '' }) : renderMoves(past.answer, moves)}
${renderSection(
  'Widest spreads',
  html`${renderFigures([
    {
      name: 'Compared',
      value: html`<a href="${changeAddress('/products', new URLSearchParams(), { currency, min_shops: '2' })}">${formatCount(toBigInt(readSummed('spreads')))}</a>`,
      note: 'products, per currency',
    },
    { name: 'Half differ by more than', value: typeof median === 'number' ? formatPercent(median) : '–' },
    {
      name: 'Grade A',
      value: html`<a href="${changeAddress('/products', new URLSearchParams(), { currency, grade: 'A' })}">${formatCount(toBigInt(readSummed('grade_a')))}</a>`,
    },
    { name: 'Offers left out', value: formatCount(toBigInt(readSummed('left_out'))) },
  ])}${renderAnswer(spreads, widest, {
    caption: 'Grades A and B',
    columns: [
      'title',
      { name: 'trusted_min', label: 'Cheapest' },
      { name: 'trusted_cheapest_shop', label: 'at' },
      { name: 'trusted_max', label: 'Most expensive' },
      { name: 'trusted_dearest_shop', label: 'at' },
      'currency',
      { name: 'trusted_spread_pct', label: 'Spread' },
      'grade',
    ],
    empty: 'No product is sold by two shops.',
  })}`,
)}
${renderSection('The copy', renderCopy(readHeld, checked))}`,
  };
}

const toBigInt = (value: DuckDBValue): bigint => (typeof value === 'bigint' ? value : 0n);

/** Variables of movers.sql. Before the second run, a day ago is the only known moment. */
function chooseMoment(since: string, run: bigint | undefined, newest: DuckDBValue): Record<string, string> {
  if (since === 'run' && run !== undefined && run > 1n) return { since_run: String(run - 1n) };
  if (since !== 'week' || !(newest instanceof DuckDBTimestampTZValue)) return {};
  return { since: new Date(Number(newest.micros / 1000n) - WEEK_MS).toISOString() };
}

/** The number of each kind leads to its list. */
function renderMoves(answer: Answer, question: Question): Content {
  const kindAt = answer.columns.findIndex(({ name }) => name === 'kind');
  const totalAt = answer.columns.findIndex(({ name }) => name === 'of_kind');
  const totals = new Map(answer.rows.map((row) => [String(row[kindAt]), toBigInt(row[totalAt] ?? null)]));
  const figures = Object.entries(KINDS).map(([kind, name]) => {
    const total = totals.get(kind) ?? 0n;
    const list = analysisAddress({ analysis: question.analysis, set: { ...question.set, kind, top: '1000' } });
    return { name, value: total === 0n ? '0' : html`<a href="${list}">${formatCount(total)}</a>` };
  });
  const parts = Object.entries(KINDS)
    .filter(([kind]) => totals.has(kind))
    .map(([kind, name]) => {
      const rows = answer.rows.filter((row) => row[kindAt] === kind);
      const columns = MOVES.filter((one) => one !== 'kind');
      const own = { ...question, set: { ...question.set, kind } };
      const caption = `The largest of ${formatCount(totals.get(kind) ?? 0n)}`;
      return renderSection(name, renderAnswer({ ...answer, rows, hasMore: false }, own, { caption, columns }));
    });
  return html`${renderFigures(figures)}${parts.length === 0 ? html`<p class="soft">No price or listing of a product moved.</p>` : parts}`;
}

function renderCopy(read: ReadValue, checks: Answer): Content {
  const failed = checks.rows
    .map((row) => readRow(checks, row))
    .filter((readCheck) => toBigInt(readCheck('violations')) > 0n);
  const newest = read('newest_seen');
  return html`${renderFigures([
    { name: 'Listings', value: formatCount(toBigInt(read('listed'))) },
    { name: 'Products', value: html`<a href="/products">${formatCount(toBigInt(read('products')))}</a>` },
    { name: 'Shops', value: html`<a href="/shops">${formatCount(toBigInt(read('shops')))}</a>` },
    { name: 'Service last saw an item', value: newest instanceof DuckDBTimestampTZValue ? showTime(newest) : '–' },
    {
      name: 'Checks',
      value: html`<a href="/copy#checks">${failed.length} of ${checks.rows.length} found something</a>`,
    },
  ])}${failed.length === 0 ? '' : html`<ul>${failed.map((readCheck) => html`<li>${String(readCheck('name'))}: ${formatCount(toBigInt(readCheck('violations')))} (${String(readCheck('severity'))})</li>`)}</ul>`}`;
}

const showTime = (value: DuckDBTimestampTZValue): string =>
  `${new Date(Number(value.micros / 1000n)).toISOString().slice(0, 16).replace('T', ' ')} UTC`;
