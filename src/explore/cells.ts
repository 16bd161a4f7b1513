import {
  DuckDBDateValue,
  DuckDBDecimalValue,
  DuckDBListValue,
  DuckDBTimestampTZValue,
  type DuckDBType,
  DuckDBTypeId,
  type DuckDBValue,
} from '@duckdb/node-api';
import { formatCount } from '../formats/count.js';
import { type Content, html } from '../formats/html.js';
import { isNumberType, roundDecimal, valueToText } from '../sql/value-json.js';
import { KINDS } from './charts/changes.js';
import { foreign, formatDay, formatMoney, formatPercent, link, moment, trimCents } from './format.js';
import { toDate } from './values.js';

export interface CellColumn {
  name: string;
  type: DuckDBType;
  /** The number of decimals of floating-point numbers; 1 by default. */
  decimals?: number;
}

/** Plain-language names, keyed by the kind of change in the change feed. */
const CHANGE_KINDS = new Map<string, string>(KINDS.map(({ kind, name }) => [kind, name]));

/** Reads a value of the current row by column name. */
export type ReadCell = (name: string) => DuckDBValue | undefined;

/** True for columns that hold identifiers, which are shown without digit grouping. */
const isId = (name: string) => name === 'id' || name.endsWith('_id') || name.endsWith('cursor');

export const isNumeric = ({ name, type }: CellColumn): boolean => isNumberType(type) && !isId(name);

/** Converts a column name to a label: `price_changed_at` → `Price changed at`, `is_counted` → `Counted`. */
export function toLabel(name: string): string {
  const words = name.replace(/^is_/u, '').replace(/_pct$/u, ' %').replaceAll('_', ' ');
  return words.charAt(0).toUpperCase() + words.slice(1);
}

export const productPath = (product: string, currency?: string): string =>
  `/products/${encodeURIComponent(product)}${currency === undefined ? '' : `?currency=${encodeURIComponent(currency)}`}`;

/** Renders a value for readers. If another page shows more about the value, renders a link to that page. */
export function showCell({ name, type, decimals = 1 }: CellColumn, value: DuckDBValue, read: ReadCell): Content {
  if (value === null || value === undefined) return html`<span class="none">–</span>`;
  if (name === 'product_id')
    return html`<a href="${productPath(String(value), readText(read, 'currency'))}">${foreign(String(value), 60)}</a>`;
  if (name === 'title') return showTitle(String(value), read);
  if (name === 'site_id') return html`<a href="/shops/${String(value)}">${String(value)}</a>`;
  if (/(^|_)shop$/u.test(name)) return showShop(name, String(value), read);
  if (name === 'kind') return CHANGE_KINDS.get(String(value)) ?? foreign(String(value), 40);
  if (name === 'reason') return foreign(trimCents(String(value)), 240);
  if (name === 'availability') return html`<span class="whole">${foreign(String(value), 20)}</span>`;
  if (name === 'url' || name === 'new_url') return link(String(value), 'open');
  if (value instanceof DuckDBDecimalValue)
    return html`<span class="money">${formatMoney(showAmount(name, value))}</span>`;
  if (value instanceof DuckDBTimestampTZValue) return showMoment(value);
  if (value instanceof DuckDBDateValue)
    return html`<span class="whole">${formatDay(new Date(value.toString()))}</span>`;
  if (value instanceof DuckDBListValue)
    return foreign(value.items.map((item) => (item === null ? '–' : valueToText(item))).join(', '), 240);
  if (typeof value === 'boolean') return value ? 'yes' : 'no';
  if (typeof value === 'number')
    return name.endsWith('_pct') ? formatPercent(value) : formatDouble(value, AMOUNTS.has(name) ? CENTS : decimals);
  if (typeof value === 'bigint')
    return isId(name) ? html`<span class="whole">${String(value)}</span>` : formatCount(value);
  return type.typeId === DuckDBTypeId.VARCHAR ? foreign(String(value), 240) : foreign(valueToText(value), 240);
}

/** Matches the names of amounts that are computed from several prices. */
const COMPUTED = /(?:^|_)(?:median|mean|p\d\d|stddev)(?:_|$)/u;

/** The names of columns with amounts that are floating-point numbers. */
const AMOUNTS: ReadonlySet<string> = new Set(['price', 'other_price', 'mean', 'value_of_information']);

/** Formats an amount. Rounds computed amounts, and unit prices of 1 or more, to cents. Other amounts are exact. */
export function showAmount(name: string, amount: DuckDBDecimalValue): string {
  const { value, scale } = amount;
  const isComputed = COMPUTED.test(name) || (name === 'unit_price' && value >= 10n ** BigInt(scale));
  return (isComputed ? roundDecimal(amount, CENTS) : amount).toString();
}

const CENTS = 2;

const readText = (read: ReadCell, name: string): string | undefined => {
  const value = read(name);
  return typeof value === 'string' ? value : undefined;
};

function showTitle(title: string, read: ReadCell): Content {
  const product = readText(read, 'product_id') ?? readText(read, 'product');
  if (product === undefined) return foreign(title);
  return html`<a href="${productPath(product, readText(read, 'currency'))}">${foreign(title)}</a>`;
}

/** Links a shop's name to its page. For `cheapest_shop`, the shop's id is in `cheapest_site_id`. */
function showShop(name: string, shop: string, read: ReadCell): Content {
  const site = read(name === 'shop' ? 'site_id' : name.replace(/shop$/u, 'site_id'));
  return typeof site === 'bigint' ? html`<a href="/shops/${String(site)}">${foreign(shop, 60)}</a>` : foreign(shop, 60);
}

function showMoment(value: DuckDBTimestampTZValue): Content {
  const at = toDate(value);
  return at === undefined ? String(value) : moment(at);
}

function formatDouble(value: number, decimals: number): string {
  if (!Number.isFinite(value)) return String(value);
  return value.toLocaleString('en-US', { minimumFractionDigits: decimals, maximumFractionDigits: decimals });
}

/**
 * Returns the number of decimals for all values of a column, so that they line up: none if all are whole numbers, and
 * more for columns of small numbers.
 */
export function countDecimals(values: readonly DuckDBValue[]): number {
  const numbers = values.filter((value) => typeof value === 'number' && Number.isFinite(value)) as number[];
  if (numbers.every(Number.isInteger)) return 0;
  const largest = Math.max(...numbers.map(Math.abs));
  return largest >= 10 ? 1 : largest >= 1 ? 2 : 3;
}
