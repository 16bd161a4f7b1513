import { formatCount } from '../../formats/count.js';
import { type Content, html } from '../../formats/html.js';
import { drawMoves } from '../charts/moves.js';
import { askForSparklines } from '../charts/sparkline.js';
import { nameDay, readDates, readUntil, renderDates } from '../dates.js';
import { formatDay, formatDifference, formatPercent, moment } from '../format.js';
import {
  changeAddress,
  type Page,
  type PageRequest,
  renderChoice,
  renderFigures,
  renderFilters,
  renderSection,
} from '../page.js';
import { askPast } from '../past.js';
import type { Answer, Question } from '../question.js';
import { renderAnswer } from '../table.js';
import { type ReadValue, readAll, readFirst, toBigInt, toDate, toNumber } from '../values.js';
import { renderVerdict } from '../verdict.js';
import { askForNames, toChoices } from './analysis-form.js';
import { chooseMoves, KINDS, listStockFigures, ROWS, renderMoves, renderSpreadMoves } from './move-sections.js';
import { askForBrands, readInList, renderBrand, renderInList } from './product-facets.js';
import { listCurrencies } from './products.js';
import { chooseMoment, nameSince, readSince, SINCE } from './since.js';

/** The number of moves to query of each kind. The page shows fewer, and prefers products that several shops sell. */
const LOOKED_AT = 200;
const ANY = { value: '', label: 'any' };

/** Shows which prices moved, how complete and fresh the copy is, and what needs attention. */
export async function todayPage(request: PageRequest): Promise<Page> {
  const { search, ask, snapshot, advice } = request;
  const isFirst = snapshot.run === undefined || snapshot.run.number <= 1n;
  const choices = SINCE.filter(({ value }) => value !== 'run' || !isFirst);
  const dates = readDates(search);
  const until = dates === undefined ? readUntil(search) : dates.until;
  const since = dates?.since ?? readSince(search.get('since') ?? '', choices);
  const read = (name: string) => search.get(name) ?? '';
  // Ignores a shop that is not a number, because shops are identified by site_id.
  const site = /^\d{1,18}$/u.test(read('site_id')) ? read('site_id') : '';
  const compared = {
    currency: read('currency'),
    category: read('category'),
    brand: read('brand'),
    in_list: readInList(search),
  };
  const { currency } = compared;
  const chosen = { ...compared, site_id: site };
  // Past figures exist only for all products of a currency, not for a selection of products.
  const isSelected = [compared.category, compared.brand, compared.in_list].some((value) => value !== '');
  const runs: Question = { analysis: 'report_runs', set: {}, limit: 10 };
  const overview: Question = { analysis: 'report_overview', set: {}, limit: 1 };
  const checks: Question = { analysis: 'report_checks', set: {}, limit: 500 };
  const summary: Question = { analysis: 'spread_summary', set: compared, limit: 1 };
  const widest: Question = { analysis: 'widest_spreads', set: { ...compared, top: String(ROWS) }, limit: ROWS };
  const [held, ran, checked, summed, spreads, currencies, names, brands] = await Promise.all([
    ask(overview),
    ask(runs),
    ask(checks),
    ask(summary),
    ask(widest),
    listCurrencies(ask),
    askForNames(ask),
    // Until products are prepared, counting brands would read all of the lake's files.
    snapshot.version.prepared.isPresentReady ? askForBrands(ask) : [],
  ]);
  const readHeld = readFirst(held);
  const begin = chooseMoment(since, snapshot.run?.number, readHeld('newest_seen'));
  const period = { ...begin, ...(until === undefined ? {} : { until }) };
  const moves: Question = {
    // Without an end date, the page shows stored moves, which are ranked. With an end date, it compares prices at both
    // dates.
    analysis: until === undefined ? 'movers' : 'compared_listings',
    set: { ...chosen, top: String(LOOKED_AT), ...period },
    limit: LOOKED_AT * Object.keys(KINDS).length,
  };
  const spreadMoves: Question = {
    analysis: 'spread_moves',
    set: { ...compared, top: String(ROWS), ...begin },
    limit: 2 * ROWS,
  };
  const stockMoves: Question = { analysis: 'stock_moves', set: { ...chosen, top: '1', ...period }, limit: 2 };
  // If the period ends in the past, leaves out spreads and the copy, which have no figures for past days.
  const [days, past, stocked, copied, spread, opened] = await Promise.all([
    askPast(request, { analysis: 'moves_by_day', set: chosen, limit: 100 }),
    askPast(request, moves),
    askPast(request, stockMoves),
    ...(until === undefined
      ? [
          askPast(request, { analysis: 'copy_changes', set: begin, limit: 1 }),
          askPast(request, { analysis: 'spread_changes', set: { ...begin, currency }, limit: 1 }),
          askPast(request, spreadMoves),
        ]
      : []),
  ]);
  const moved = past.answer === undefined ? undefined : chooseMoves(past.answer);
  const spark = await askForSparklines(moved === undefined ? [] : [moved, spreads], ask);
  const list =
    snapshot.list?.isMade === true
      ? readFirst(await ask({ analysis: 'watched_summary', set: {}, limit: 1 }))
      : undefined;
  const standing = { summary: readFirst(summed), overview: readHeld, runs: ran, checks: checked, list };
  const readSummed = readFirst(summed);
  const median = toNumber(readSummed('median_pct'));
  const spreadChange = spread?.answer === undefined || isSelected ? undefined : readAll(spread.answer)[0];
  return {
    title: 'Today',
    ...past.again,
    body: html`<div class="split">${days.answer === undefined ? days.render({ caption: '' }) : (drawMoves(days.answer) ?? NO_MOVES)}
${renderVerdict(standing, advice)}</div>
${renderFilters('/', [
  renderChoice('since', 'Since', [...listGivenMoments(), ...choices], dates === undefined ? since : ''),
  ...renderDates(search, 'or from'),
  renderChoice('currency', 'Currency', [ANY, ...currencies], currency),
  renderChoice('category', 'Category', [ANY, ...toChoices(names.category)], compared.category),
  renderBrand(compared.brand, brands),
  renderChoice('site_id', 'Shop', [ANY, ...toChoices(names.site)], site),
  renderInList(snapshot.list !== undefined, compared.in_list),
])}
${snapshot.run?.number === 1n ? FIRST_COPY : ''}
${until === undefined ? '' : html`<p class="soft">Prices at two moments: from ${dates === undefined ? nameSince(since) : nameDay(since, 'the beginning')} to ${nameDay(until, 'the end')}. Spreads and the copy have no figures for a past day.</p>`}
${moved === undefined ? past.render({ caption: '' }) : renderMoves(moved, moves, spark, listStockFigures(stocked.answer, stockMoves))}
${site === '' ? renderSpreads() : ''}
${renderSection('The copy', renderCopy(readHeld, copied?.answer, dates === undefined ? nameSince(since) : nameDay(since, 'the beginning')))}`,
  };

  /**
   * Returns a choice for the requested moment if it isn't one of the usual choices. Dates in the address take
   * precedence.
   */
  function listGivenMoments(): typeof SINCE {
    if (dates !== undefined) return [{ value: '', label: 'the date given' }];
    return choices.some(({ value }) => value === since) ? [] : [{ value: since, label: nameSince(since) }];
  }

  /** Renders the sections on spreads. They are left out if a shop is chosen, because spreads compare shops. */
  function renderSpreads(): Content {
    return html`${
      opened === undefined
        ? ''
        : renderSection(
            'Spreads that opened or closed',
            opened.answer === undefined
              ? opened.render({ caption: '' })
              : renderSpreadMoves(opened.answer, spreadMoves),
          )
    }
${renderSection(
  'Widest spreads',
  html`${renderFigures([
    {
      name: 'Compared',
      value: html`<a href="${changeAddress('/products', new URLSearchParams(), { ...compared, min_shops: '2' })}">${formatCount(toBigInt(readSummed('spreads')))}</a>`,
      note: html`products, per currency${describeSpreadChange(spreadChange, 'spreads')}`,
    },
    {
      name: 'Median spread',
      value: median === undefined ? '–' : formatPercent(median),
      note: describeSpreadChange(spreadChange, 'median'),
    },
    {
      name: 'Grade A',
      value: html`<a href="${changeAddress('/products', new URLSearchParams(), { ...compared, grade: 'A' })}">${formatCount(toBigInt(readSummed('grade_a')))}</a>`,
    },
    { name: 'Offers left out', value: formatCount(toBigInt(readSummed('left_out'))) },
  ])}${renderAnswer(spreads, widest, {
    caption: 'Grades A and B',
    columns: [
      'title',
      spark,
      { name: 'trusted_min', label: 'Cheapest' },
      { name: 'trusted_cheapest_shop', label: 'at' },
      { name: 'trusted_max', label: 'Most expensive' },
      { name: 'trusted_dearest_shop', label: 'at' },
      'currency',
      { name: 'trusted_spread_pct', label: 'Spread' },
      'grade',
    ],
    brief: ['trusted_min', 'trusted_max', 'currency', 'trusted_spread_pct'],
    empty: 'No product is sold by two shops.',
  })}`,
)}`;
  }
}

const NO_MOVES = html`<p class="soft">No price of a product is known to have moved in the last 30 days.</p>`;

/** The note for a first run, which has no earlier run to compare with. */
const FIRST_COPY = html`<p class="soft">This is the first copy, so there is no earlier run to compare it with. The figures below are moves that the service itself dates.</p>`;

/** Describes how much a figure changed in a past period, with the first and last day; empty if that is unknown. */
function describeSpreadChange(read: ReadValue | undefined, name: 'spreads' | 'median'): Content {
  const change = toNumber(read?.(name) ?? null);
  const [first, last] = [toDate(read?.('first_day') ?? null), toDate(read?.('last_day') ?? null)];
  if (change === undefined || first === undefined || last === undefined) return '';
  return html`<br>${formatDifference(change, name === 'median' ? 'points' : '')} from ${formatDay(first)} to ${formatDay(last)}`;
}

function renderCopy(read: ReadValue, changed: Answer | undefined, since: string): Content {
  const newest = toDate(read('newest_seen'));
  const note = (name: string) => {
    const change = changed === undefined ? undefined : toNumber(readFirst(changed)(name));
    return change === undefined ? '' : `${formatDifference(change, '')} since ${since}`;
  };
  return renderFigures([
    { name: 'Listings', value: formatCount(toBigInt(read('listed'))), note: note('listings') },
    {
      name: 'Products',
      value: html`<a href="/products">${formatCount(toBigInt(read('products')))}</a>`,
      note: note('products'),
    },
    { name: 'Shops', value: html`<a href="/shops">${formatCount(toBigInt(read('shops')))}</a>`, note: note('shops') },
    { name: 'Service last saw an item', value: newest === undefined ? '–' : moment(newest) },
  ]);
}
