import { countOf, formatCount } from '../../formats/count.js';
import { type Content, type Html, html } from '../../formats/html.js';
import { foreign, formatDay, formatPercent, link, listNames, moment, money } from '../format.js';
import { type Column, renderTable, type Section } from '../layout.js';
import type { Mover, MoverKind, Successor } from '../move-rows.js';
import { type MovesFacts, SUCCESSOR_DAYS, type SuccessorFacts } from '../read-moves.js';

const ROWS_OPEN = 12;
const NONE = html`<span class="none">–</span>`;

/** In the order of the table: the word in a row, and in the sentence after a number. */
const KINDS: Record<MoverKind, { word: string; one: string; many: string }> = {
  fall: { word: 'fell', one: 'price fell', many: 'prices fell' },
  rise: { word: 'rose', one: 'price rose', many: 'prices rose' },
  new: { word: 'new', one: 'listing is new', many: 'listings are new' },
  back: { word: 'back', one: 'came back', many: 'came back' },
  removed: { word: 'ended', one: 'ended', many: 'ended' },
  gone: { word: 'gone', one: 'is gone from the data', many: 'are gone from the data' },
};

/** Shows whose prices moved since a moment. */
export function movesSection({ since, counts, rows }: MovesFacts): Section {
  const section = { id: 'moves', title: 'What moved' };
  if (since === null) return { ...section, body: html`<p>No listing of a product moved lately.</p>` };
  const told = Object.entries(KINDS).flatMap(([kind, { one, many }]) => {
    const count = counts.get(kind as MoverKind) ?? 0n;
    return count === 0n ? [] : [html`${countOf(count, one, many)}`];
  });
  const all = [...counts.values()].reduce((sum, count) => sum + count, 0n);
  const left = BigInt(rows.length) < all ? ' The table has the largest of each kind.' : '';
  const table = renderTable({
    id: 'movers',
    caption: 'Falls first, then rises, then what came and went; the largest of each first',
    columns: MOVER_COLUMNS,
    rows,
    fold: ROWS_OPEN,
    cards: true,
    data: ({ currency }) => ({ currency }),
  });
  return { ...section, body: html`<p>Since ${moment(since)}: ${listNames(told, told.length)}.${left}</p>\n${table}` };
}

const place = (rank: bigint | null, shops: bigint): Content =>
  rank === null ? NONE : html`${formatCount(rank)} <small>of ${formatCount(shops)}</small>`;

const MOVER_COLUMNS: Column<Mover>[] = [
  {
    label: 'Product',
    sortBy: ({ title, product_id }) => title ?? product_id,
    cell: ({ title, product_id, url }) =>
      html`${link(url, foreign(title ?? product_id, 120))} <small>${foreign(product_id, 60)}</small>`,
  },
  { label: 'Shop', sortBy: ({ shop }) => shop, cell: ({ shop }) => foreign(shop, 60) },
  { label: 'Move', sortBy: ({ kind }) => KINDS[kind].word, cell: ({ kind }) => KINDS[kind].word },
  {
    label: 'Before',
    numeric: true,
    sortBy: ({ price_before }) => Number(price_before ?? 0),
    cell: ({ price_before, currency }) => tellMoney(price_before, currency),
  },
  {
    label: 'Now',
    numeric: true,
    sortBy: ({ price }) => Number(price ?? 0),
    cell: ({ price, currency }) => tellMoney(price, currency),
  },
  {
    label: 'Change',
    numeric: true,
    sortBy: ({ change_pct }) => change_pct ?? 0,
    cell: ({ change_pct }) => tellChange(change_pct),
  },
  { label: 'Place before', numeric: true, cell: ({ rank_before, shops_before }) => place(rank_before, shops_before) },
  { label: 'Place now', numeric: true, cell: ({ rank_after, shops_after }) => place(rank_after, shops_after) },
  {
    label: 'When',
    sortBy: ({ moved_at }) => moved_at?.toISOString() ?? '',
    cell: ({ moved_at }) => (moved_at === null ? NONE : moment(moved_at)),
  },
];

/** Shows which new listings may continue others. */
export function successorsSection({ pairs, ambiguous, rows }: SuccessorFacts): Section {
  const section = { id: 'successors', title: 'Listings that may continue others' };
  const span = `the last ${SUCCESSOR_DAYS} days of the data`;
  if (pairs === 0n) return { ...section, body: html`<p>No listing that ended in ${span} has a likely successor.</p>` };
  const sure = pairs - ambiguous;
  const doubt = ambiguous === 0n ? '' : ` For ${formatCount(ambiguous)}, several listings come into question.`;
  const left = BigInt(rows.length) < pairs ? ` The table has the latest ${formatCount(rows.length)}.` : '';
  const table = renderTable({
    caption: 'A listing that ended, and the new one of the same shop',
    columns: SUCCESSOR_COLUMNS,
    rows,
    fold: ROWS_OPEN,
    cards: true,
  });
  return {
    ...section,
    body: html`<p>Of listings that ended in ${span}, ${countOf(sure, 'pair')} with a new listing ${sure === 1n ? 'is' : 'are'} clear.${doubt}${left}</p>\n${table}`,
  };
}

const SUCCESSOR_COLUMNS: Column<Successor>[] = [
  {
    label: 'New listing',
    sortBy: ({ new_title, new_item_id }) => new_title ?? String(new_item_id),
    cell: (row) =>
      html`${link(row.new_url, foreign(row.new_title ?? String(row.new_item_id), 120))}${tellOldTitle(row)}`,
  },
  { label: 'Shop', sortBy: ({ shop }) => shop, cell: ({ shop }) => foreign(shop, 60) },
  {
    label: 'Old one ended',
    sortBy: ({ ended_at }) => ended_at.toISOString(),
    cell: ({ ended_at }) => formatDay(ended_at),
  },
  {
    label: 'Days between',
    numeric: true,
    sortBy: ({ gap_days }) => gap_days,
    cell: ({ gap_days }) => gap_days.toFixed(1),
  },
  { label: 'Same', cell: ({ evidence }) => evidence.join(', ') },
  { label: 'Last price', numeric: true, cell: ({ last_price, last_currency }) => tellMoney(last_price, last_currency) },
  {
    label: 'First price',
    numeric: true,
    cell: ({ first_price, first_currency }) => tellMoney(first_price, first_currency),
  },
  {
    label: 'Step',
    numeric: true,
    sortBy: ({ change_pct }) => change_pct ?? 0,
    cell: ({ change_pct }) => tellChange(change_pct),
  },
  { label: 'Clear', cell: tellDoubt },
];

function tellOldTitle({ title, new_title, old_item_id }: Successor): Html {
  return html` <small>${title === new_title ? String(old_item_id) : foreign(title ?? String(old_item_id), 80)}</small>`;
}

function tellDoubt({ is_ambiguous, candidates, rivals }: Successor): string {
  if (!is_ambiguous) return 'yes';
  const parts = [
    ...(candidates > 1n ? [`${formatCount(candidates)} new ones`] : []),
    ...(rivals > 1n ? [`${formatCount(rivals)} old ones`] : []),
  ];
  return `no: ${parts.join(', ')}`;
}

const tellMoney = (value: string | null, currency: string | null): Content =>
  value === null ? NONE : currency === null ? value : money(value, currency);

const tellChange = (percent: number | null): Content =>
  percent === null ? NONE : `${percent > 0 ? '+' : ''}${formatPercent(percent)}`;
