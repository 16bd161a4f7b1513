import { formatCount } from '../../formats/count.js';
import { type Content, type Html, html } from '../../formats/html.js';
import { makeRangeColumn } from '../charts/range-bar.js';
import { nameDates, readDates, renderDates, toMoments } from '../dates.js';
import { onlyIn } from '../edition.js';
import { foreign, moment } from '../format.js';
import {
  changeAddress,
  type Page,
  type PageRequest,
  readLimit,
  readOffset,
  readOrder,
  renderChoice,
  renderFigures,
  renderFilters,
  renderSection,
} from '../page.js';
import { askPast } from '../past.js';
import type { Answer, Question } from '../question.js';
import { analysisAddress, renderAnswer, renderPager, type ShownColumn } from '../table.js';
import { type ReadValue, readFirst, toBigInt, toDate, toText } from '../values.js';
import { askForNames, toChoices } from './analysis-form.js';
import { MOVED, MOVES, orderMoves } from './move-sections.js';
import { listCurrencies } from './products.js';

/** Lists the columns of shop_index_by_category.sql, except the shop and the category. */
const listPositions = (answer: Answer): (string | ShownColumn)[] => [
  { name: 'products', label: 'Compared' },
  'cheapest',
  { name: 'win_pct', label: 'Win rate' },
  'price_index',
  makeRangeColumn(
    answer,
    { low: 'index_p25', middle: 'index_median', high: 'index_p75' },
    { label: 'Median and middle half of products', reference: 100 },
  ),
];

/** The columns of source_freshness.sql, except the shop. */
export const FRESHNESS = [
  { name: 'source_id', label: 'Source' },
  { name: 'is_stale', label: 'Stale' },
  { name: 'unseen_days', label: 'Days unseen' },
  { name: 'stale_after_days', label: 'Allowed' },
  { name: 'last_seen_at', label: 'Last seen' },
  { name: 'read_at', label: 'Read' },
  { name: 'read_by', label: 'by' },
  'listings',
];

const REDUCTIONS = [
  'title',
  'price',
  { name: 'regular_price', label: 'Regular' },
  'currency',
  { name: 'announced_pct', label: 'Announced' },
  { name: 'lowest_before', label: 'Lowest before' },
  { name: 'cut_from_lowest_pct', label: 'From the lowest' },
  { name: 'began_at', label: 'Since' },
  'verdict',
];

const STOCK_OUTS = [
  'title',
  { name: 'stock_outs', label: 'Times' },
  { name: 'out_days', label: 'Total days' },
  { name: 'longest_out_days', label: 'Longest' },
  { name: 'out_since', label: 'Out since' },
  { name: 'alone_times', label: 'Sole seller' },
  { name: 'known_days', label: 'Days known' },
];

/** Shows how the prices of each shop compare with the market. */
export async function shopsPage({ search, ask }: PageRequest): Promise<Page> {
  const set = {
    currency: search.get('currency') ?? '',
    category: search.get('category') ?? '',
    min_products: '1',
    by: 'shop',
  };
  const order = readOrder(search) ?? { by: 'products', isDescending: true };
  const positions: Question = {
    analysis: 'shop_index_by_category',
    ...{ set, order, offset: readOffset(search), limit: readLimit(search) },
  };
  const [answer, currencies, names] = await Promise.all([ask(positions), listCurrencies(ask), askForNames(ask)]);
  const address = (changes: Record<string, string>) => changeAddress('/shops', search, { from: '', ...changes });
  return {
    title: 'Shops',
    body: html`<p>Over the products that a shop shares with others: how often its price is the lowest, alone or with others, and its price index, where 100 is the median price of each product.</p>
${renderFilters('/shops', [
  renderChoice('currency', 'Currency', [{ value: '', label: 'any' }, ...currencies], set.currency),
  renderChoice('category', 'Category', [{ value: '', label: 'any' }, ...toChoices(names.category)], set.category),
])}
${renderAnswer(answer, positions, {
  caption: 'Shops that share products with other shops',
  columns: ['shop', 'host', ...listPositions(answer)],
  brief: ['products', 'cheapest', 'win_pct', 'price_index'],
  isLong: true,
  sortAddress: (by, isDescending) => address({ sort: by, order: isDescending ? 'desc' : '' }),
  moreNote: '', // the pager links to the other rows
  empty: 'No shops share a product.',
})}${renderPager(answer, positions, address)}
${onlyIn('served', html`<p><a href="${analysisAddress({ analysis: 'cut_leaders', set: { currency: set.currency, category: set.category } })}">Which shops lead price cuts, in order</a></p>`)}
${linkLeaders({ currency: set.currency, category: set.category }, 'Which shops move first, and who follows')}`,
  };
}

/** Renders a link to the price leaders, because comparing all pairs of shops takes seconds in a large lake. */
const linkLeaders = (set: Question['set'], label: string): Content =>
  onlyIn('served', html`<p><a href="${analysisAddress({ analysis: 'price_leaders', set })}">${label}</a></p>`);

/**
 * Renders the pairs of shops in which this shop leads or follows. Only reports include them, because they take seconds.
 */
export async function renderLeaders(site: string, { ask }: PageRequest): Promise<Html> {
  const leaders: Question = { analysis: 'price_leaders', set: { site_id: site, top: '20' }, limit: 20 };
  return renderSection(
    'Who moves first',
    renderAnswer(await ask(leaders), leaders, {
      caption:
        'Pairs with this shop: how often the follower moved a price within 72 hours after the leader, in the same direction',
      columns: [
        'leader',
        'follower',
        { name: 'products', label: 'Products' },
        { name: 'follows', label: 'Followed' },
        { name: 'follow_pct', label: 'Of the moves' },
        { name: 'median_lag_hours', label: 'Hours later' },
        { name: 'lead_pct', label: 'Leads' },
      ],
      empty: 'No pair of shops followed one another five times.',
    }),
  );
}

const RIVALS = [
  { name: 'second_shop', label: 'Rival' },
  'currency',
  { name: 'products', label: 'Shared products' },
  { name: 'overlap_pct', label: 'Overlap' },
  { name: 'in_first_pct', label: 'Of this shop' },
  { name: 'in_second_pct', label: 'Of the rival' },
  { name: 'cheaper', label: 'Cheaper here' },
  'same',
  { name: 'more_expensive', label: 'Cheaper there' },
  'price_level',
];

const SUCCESSORS = [
  'title',
  'new_title',
  'evidence',
  { name: 'ended_at', label: 'Ended' },
  { name: 'first_seen_at', label: 'Began' },
  { name: 'last_price', label: 'Last price' },
  { name: 'last_currency', label: 'Currency' },
  { name: 'first_price', label: 'First price' },
  { name: 'change_pct', label: 'Change' },
  { name: 'is_ambiguous', label: 'Ambiguous' },
  { name: 'new_url', label: 'Page' },
];

const GAPS = [
  'title',
  { name: 'category_name', label: 'Category' },
  'shops',
  'lowest',
  { name: 'lowest_shop', label: 'at' },
  'median',
  'currency',
  { name: 'sold_widely_at', label: 'Sold by several since' },
  { name: 'own_ended_at', label: 'Sold it until' },
];

function renderShop(read: ReadValue): Html {
  const seen = toDate(read('newest_seen_at'));
  return html`<p class="about">${foreign(toText(read('host')) ?? null, 200)}</p>
${renderFigures([
  { name: 'Listings', value: formatCount(toBigInt(read('listings'))) },
  { name: 'Products', value: formatCount(toBigInt(read('products'))) },
  { name: 'Offers left out', value: formatCount(toBigInt(read('offers_left_out'))) },
  { name: 'Last seen', value: seen === undefined ? '–' : moment(seen) },
])}<p>License: ${read('attribution') === null ? 'the service names none.' : foreign(toText(read('attribution')) ?? null, 400)}</p>`;
}

/**
 * Shows one shop: its position, rivals, assortment, freshness and price moves. Returns undefined if the lake doesn't
 * have the shop.
 */
export async function shopPage(site: string, request: PageRequest): Promise<Page | undefined> {
  const { ask, search } = request;
  const own: Question = { analysis: 'shop', set: { site_id: site }, limit: 1 };
  const shop = await ask(own);
  if (shop.rows.length === 0) return undefined;
  const currency = search.get('currency') ?? '';
  const positions: Question = {
    analysis: 'shop_index_by_category',
    set: { site_id: site, min_products: '1', currency },
    limit: 500,
  };
  const overlap: Question = {
    analysis: 'shop_overlap',
    set: { site_id: site, min_products: '1', currency, top: '20' },
    limit: 20,
  };
  const gaps: Question = { analysis: 'assortment_gaps', set: { own_site: site, currency, top: '20' }, limit: 20 };
  const sources: Question = { analysis: 'source_freshness', set: { site_id: site }, limit: 500 };
  const [answer, shared, missing, seen] = await Promise.all([ask(positions), ask(overlap), ask(gaps), ask(sources)]);
  const past = (analysis: string) => askPast(request, { analysis, set: { site_id: site, top: '20' }, limit: 20 });
  const dates = readDates(search);
  const moves: Question =
    dates === undefined
      ? { analysis: 'movers', set: { site_id: site, top: '20' }, limit: 200 }
      : { analysis: 'compared_listings', set: { site_id: site, top: '20', ...toMoments(dates) }, limit: 200 };
  const moved = await askPast(request, moves);
  const [reduced, out, followed] = await Promise.all([past('reductions'), past('availability'), past('successors')]);
  const list = changeAddress('/products', new URLSearchParams(), { site_id: site });
  return {
    title: String(readFirst(shop)('shop')),
    ...moved.again,
    body: html`${renderShop(readFirst(shop))}
${onlyIn('served', html`<p><a href="${list}">Its products</a></p>`)}
${linkLeaders({ site_id: site, currency }, 'Whom it follows, and who follows it')}
${renderSection(
  'Position',
  renderAnswer(answer, positions, {
    caption: 'Against the market, as a whole and by category',
    columns: [
      { name: 'category_name', label: 'Category', show: (value) => (value === null ? 'all' : String(value)) },
      ...listPositions(answer),
    ],
    empty: 'No other shop sells what it sells.',
  }),
)}
${renderSection(
  'Rivals',
  renderAnswer(shared, overlap, {
    caption:
      'Shops that sell the same products, those with the most first; above a price level of 100, this shop is more expensive',
    columns: RIVALS,
    brief: ['products', 'overlap_pct', 'cheaper', 'price_level'],
    empty: 'No other shop sells what it sells.',
  }),
)}
${renderSection('Gaps', renderAnswer(missing, gaps, { caption: 'What two or more other shops sell and this one does not, the most widely sold first', columns: GAPS, brief: ['shops', 'lowest', 'currency', 'lowest_shop'], empty: 'It sells all that two others sell.' }))}
${renderSection('Freshness', renderAnswer(seen, sources, { caption: 'The sources of this shop, the stalest first', columns: FRESHNESS, empty: 'No read has shown its sources yet.' }))}
${renderSection(
  'Announced reductions',
  reduced.render({
    caption: 'Announced regular prices beside the lowest price of the 30 days before; those that are not honest first',
    columns: REDUCTIONS,
    brief: ['price', 'regular_price', 'lowest_before', 'verdict'],
    empty: 'No offer announces a reduction, or no attribute is mapped to the regular price.',
  }),
)}
${renderSection(
  'Out of stock',
  out.render({
    caption: 'Times without stock, the longest first',
    columns: STOCK_OUTS,
    empty: 'No time without stock is known, or no attribute is mapped to availability.',
  }),
)}
${renderSection('Replaced listings', followed.render({ caption: 'New listings that may continue one that ended, the latest first', columns: SUCCESSORS, empty: 'No new listing continues one that ended.' }))}
${renderSection(dates === undefined ? 'Moved in the last day' : 'Moved', html`${renderFilters(`/shops/${site}`, renderDates(search, 'From'), { currency })}${renderMoved()}`)}`,
  };

  function renderMoved(): Html {
    const view = {
      caption: `Prices and listings that changed${dates === undefined ? '' : ` ${nameDates(dates)}`}; likely mistakes (a factor of ten or more) last`,
      columns: MOVES,
      brief: MOVED,
      empty: 'Nothing moved.',
    };
    return moved.answer === undefined ? moved.render(view) : renderAnswer(orderMoves(moved.answer), moves, view);
  }
}
