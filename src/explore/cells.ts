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
import { foreign, formatDay, formatMoney, formatPercent, link, moment } from './format.js';
import { toDate } from './values.js';

export interface CellColumn {
  name: string;
  type: DuckDBType;
}

/** Plain-language names, keyed by the kind of change in the change feed. */
const CHANGE_KINDS = new Map<string, string>(KINDS.map(({ kind, name }) => [kind, name]));

/** Reads a value of the current row by column name. */
export type ReadCell = (name: string) => DuckDBValue | undefined;

/** True for columns that hold identifiers, which are shown without digit grouping. */
const isId = (name: string) => name === 'id' || name.endsWith('_id') || name.endsWith('cursor');

export const isNumeric = ({ name, type }: CellColumn): boolean => isNumberType(type) && !isId(name);

/** Converts a column name to a label: `price_changed_at` → `Price changed at`. */
export function toLabel(name: string): string {
  const words = name.replace(/_pct$/u, ' %').replaceAll('_', ' ');
  return words.charAt(0).toUpperCase() + words.slice(1);
}

export const productPath = (product: string, currency?: string): string =>
  `/products/${encodeURIComponent(product)}${currency === undefined ? '' : `?currency=${encodeURIComponent(currency)}`}`;

/** Renders a value for people. If a page shows more about the value, renders a link to that page. */
export function showCell({ name, type }: CellColumn, value: DuckDBValue, read: ReadCell): Content {
  if (value === null || value === undefined) return html`<span class="none">–</span>`;
  if (name === 'product_id')
    return html`<a href="${productPath(String(value), readText(read, 'currency'))}">${foreign(String(value), 60)}</a>`;
  if (name === 'title') return showTitle(String(value), read);
  if (name === 'site_id') return html`<a href="/shops/${String(value)}">${String(value)}</a>`;
  if (/(^|_)shop$/u.test(name)) return showShop(name, String(value), read);
  if (name === 'kind') return CHANGE_KINDS.get(String(value)) ?? foreign(String(value), 40);
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
  if (typeof value === 'number') return name.endsWith('_pct') ? formatPercent(value) : formatDouble(value);
  if (typeof value === 'bigint') return isId(name) ? String(value) : formatCount(value);
  return type.typeId === DuckDBTypeId.VARCHAR ? foreign(String(value), 240) : foreign(valueToText(value), 240);
}

/** Formats an amount. Medians, and unit prices of 1 or more, are rounded to cents. All other amounts are exact. */
export function showAmount(name: string, amount: DuckDBDecimalValue): string {
  const { value, scale } = amount;
  const isComputed = name.startsWith('median') || (name === 'unit_price' && value >= 10n ** BigInt(scale));
  return (isComputed ? roundDecimal(amount, CENTS) : amount).toString();
}

const CENTS = 2;

const readText = (read: ReadCell, name: string): string | undefined => {
  const value = read(name);
  return typeof value === 'string' ? value : undefined;
};

function showTitle(title: string, read: ReadCell): Content {
  const product = readText(read, 'product_id');
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

const DOUBLE = new Intl.NumberFormat('en-US', { minimumFractionDigits: 1, maximumFractionDigits: 1 });
const SMALL = new Intl.NumberFormat('en-US', { maximumSignificantDigits: 3 });

/** Formats a number with one decimal, or with three significant digits if its absolute value is below 1. */
function formatDouble(value: number): string {
  if (!Number.isFinite(value)) return String(value);
  return (Math.abs(value) < 1 ? SMALL : DOUBLE).format(value);
}
