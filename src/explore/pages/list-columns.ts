import { DuckDBListValue, type DuckDBValue, VARCHAR } from '@duckdb/node-api';
import { countOf } from '../../formats/count.js';
import { type Content, html } from '../../formats/html.js';
import { valueToText } from '../../sql/value-json.js';
import { type ReadCell, showCell } from '../cells.js';
import { dayOf, foreign } from '../format.js';
import type { ShownColumn } from '../table.js';
import { toDate } from '../values.js';

const NONE = html`<span class="none">–</span>`;

/** The product's title, followed by the name that the list uses. */
const LINE: ShownColumn = {
  name: 'title',
  label: 'Product',
  show: (title, read) => {
    const product = String(read('product') ?? '');
    if (title === null) return foreign(product, 80);
    return html`${showCell({ name: 'title', type: VARCHAR }, title, read)} <small>${foreign(product, 80)}</small>`;
  },
};

/** The rank of the reader's price among the shops' prices, such as `3 of 8`. */
const PLACE: ShownColumn = {
  name: 'position',
  label: 'Place',
  // Adds 1, because the reader's own price is ranked too.
  show: (place, read) => (place === null ? NONE : `${String(place)} of ${Number(read('shops') ?? 0) + 1}`),
};

const listTexts = (value: DuckDBValue): string[] =>
  value instanceof DuckDBListValue ? value.items.flatMap((item) => (item === null ? [] : [valueToText(item)])) : [];

/** Renders one shop name as text, and several shop names as a count that expands to the names. */
function showShops(value: DuckDBValue): Content {
  const [name = '', ...others] = listTexts(value);
  return name !== '' && others.length === 0 ? foreign(name, 40) : showTexts('shop')(value);
}

/** Returns a function that renders a list of strings as a count that expands to the strings. */
function showTexts(what: string): (value: DuckDBValue) => Content {
  return (value) => {
    const texts = listTexts(value);
    if (texts.length === 0) return NONE;
    return html`<details><summary>${countOf(texts.length, what)}</summary>${texts.map((text) => html`<div>${foreign(text, 240)}</div>`)}</details>`;
  };
}

function showDay(value: DuckDBValue): Content {
  const at = toDate(value);
  return at === undefined ? NONE : dayOf(at);
}

const showWithShop =
  (shop: string) =>
  (value: DuckDBValue, read: ReadCell): Content => {
    if (value === null) return NONE;
    return html`${showCell({ name: 'price', type: VARCHAR }, value, read)} <small>${foreign(String(read(shop) ?? ''), 40)}</small>`;
  };

export const LINES: readonly (string | ShownColumn)[] = [
  LINE,
  { name: 'price', label: 'Your price' },
  'currency',
  PLACE,
  { name: 'gap_pct', label: 'Gap' },
  { name: 'cheapest', show: showWithShop('cheapest_shop') },
  { name: 'in_stock_cheapest', label: 'In stock', show: showWithShop('in_stock_shop') },
  { name: 'delivered_cheapest', label: 'Delivered', show: showWithShop('delivered_shop') },
  'median',
  { name: 'undercut_by', label: 'Undercut by', show: showShops },
  { name: 'undercut_since', label: 'Since', show: showDay },
  { name: 'below_now', label: 'Below allowed', show: showShops },
  { name: 'alarm', label: 'Alarm' },
  { name: 'unsure_because', label: 'Unsure because', show: showTexts('reason') },
  { name: 'changes', label: 'Changed', show: showTexts('change') },
  { name: 'left_out', label: 'Left out', show: showTexts('price') },
  { name: 'reason', label: 'Not found because' },
];

export const SUGGESTIONS: readonly (string | ShownColumn)[] = [
  LINE,
  { name: 'price', label: 'Your price' },
  'suggested',
  'currency',
  { name: 'is_changed', label: 'Differs' },
  { name: 'reason', label: 'Why' },
  'lowest',
  'highest',
  { name: 'shops', label: 'Shops' },
];

export const BREACHES: readonly (string | ShownColumn)[] = [
  LINE,
  { name: 'allowed' },
  { name: 'lowest_price', label: 'Lowest price' },
  'currency',
  'shop',
  { name: 'place', label: 'Place in it' },
  { name: 'first_shop', label: 'Began by' },
  { name: 'from_at', label: 'From', show: showDay },
  { name: 'to_at', label: 'To', show: showDay },
  'days',
  { name: 'is_now', label: 'Now' },
  { name: 'alarm', label: 'Alarm' },
  { name: 'unsure_because', label: 'Unsure because', show: showTexts('reason') },
  { name: 'url', label: 'Evidence' },
];
