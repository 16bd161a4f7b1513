import { quoteLiteral } from '../../sql/quote.js';
import type { RowFormat } from './row-file.js';

const EXPORT_SHAPES = ['item', 'flat-camel', 'flat-snake', 'dotted'] as const;

/**
 * The field names of export rows, which the API document leaves open (API §2, Export row): nested as in Item, or
 * flat as `siteId`, `site_id` or `site.id`. With `item`, CSV contains nested objects as JSON.
 */
export type ExportShape = (typeof EXPORT_SHAPES)[number];

/** Settings that the text of a row depends on. */
export interface RowStyle {
  /** The shape of export rows; null for nested NDJSON rows, and CSV rows that are flat in camel case. */
  shape: ExportShape | null;
  /** Fields of the user's items that the API document doesn't define. */
  extraFields: readonly string[];
  /** The values of the `csv.lines` and `csv.lists` readings. */
  lineEnd: '\n' | '\r\n';
  lists: 'json' | 'semicolon';
}

interface Column {
  path: string;
  json: string;
  csv: string;
}

const text = (path: string, sql: string): Column => ({ path, json: `json_text(${sql})`, csv: `csv_text(${sql})` });
const money = (path: string, sql: string): Column => ({ path, json: `json_money(${sql})`, csv: `csv_money(${sql})` });
const time = (path: string, sql: string): Column => ({ path, json: `json_time(${sql})`, csv: `csv_time(${sql})` });
const integer = (path: string, sql: string): Column => ({ path, json: sql, csv: `${sql}::VARCHAR` });
const json = (path: string, sql: string): Column => ({ path, json: sql, csv: `csv_text(nullif(${sql}, 'null'))` });

const HEAD = [
  integer('id', 'item_id'),
  text('title', 'title'),
  text('brand', 'brand'),
  text('mpn', 'mpn'),
  text('gtin', 'gtin'),
  money('price', 'price'),
  money('previousPrice', 'previous_price'),
  time('priceChangedAt', 'price_changed_at'),
  text('currency', 'currency'),
  text('url', 'url'),
  text('image', 'image'),
  json('attributes', 'attributes'),
];
const TAIL = [
  time('firstSeenAt', 'first_seen_at'),
  time('lastSeenAt', 'last_seen_at'),
  time('lastChangedAt', 'last_changed_at'),
  time('removedAt', 'removed_at'),
];
const member = (parent: string, name: string) => text(`${parent}.${name}`, `${parent}_json->>'${name}'`);

/** The columns of flat rows. $datasets is replaced by an expression for the datasets that the caller can read. */
const FLAT: Column[] = [
  ...HEAD,
  ...['name', 'path', 'slug', 'source'].map((name) => member('category', name)),
  json('datasets', '$datasets'),
  integer('site.id', 'site_id'),
  ...['name', 'host', 'attribution'].map((name) => member('site', name)),
  integer('source.modelId', 'model_id'),
  member('source', 'name'),
  ...TAIL,
];
const NESTED: Column[] = [
  ...HEAD,
  json('category', 'category_json'),
  json('datasets', '$datasets'),
  json('site', 'site_json'),
  json('source', 'source_json'),
  ...TAIL,
];

const NAMES: Record<ExportShape, (path: string) => string> = {
  item: (path) => path,
  dotted: (path) => path,
  'flat-camel': (path) => path.replace(/\.(\w)/, (_, first: string) => first.toUpperCase()),
  'flat-snake': (path) => path.replace('.', '_').replace(/[A-Z]/g, (capital) => `_${capital.toLowerCase()}`),
};

export function csvHeader({ shape, extraFields, lineEnd }: RowStyle): string {
  const columns = shape === 'item' ? NESTED : FLAT;
  const names = [...columns.map(({ path }) => NAMES[shape ?? 'flat-camel'](path)), ...extraFields];
  return `${names.map((name) => (/[",\r\n]/.test(name) ? `"${name.replaceAll('"', '""')}"` : name)).join(',')}${lineEnd}`;
}

/** Builds an SQL expression for the text of a row. @param datasets an SQL expression, which depends on the caller */
export function rowText(format: RowFormat, style: RowStyle, datasets: string): string {
  if (format === 'csv') return csvRow(style, datasets);
  const shape = format === 'json' ? 'item' : (style.shape ?? 'item');
  const columns = shape === 'item' ? NESTED : FLAT;
  const fields = columns.map(({ path, json }) => `'"${NAMES[shape](path)}":', ${json.replace('$datasets', datasets)}`);
  return `concat('{', ${fields.join(", ',', ")}, extra, '}')`;
}

/** Builds an SQL expression for a CSV row. Null is an empty field, and an empty string is `""`. */
function csvRow({ shape, extraFields, lineEnd, lists }: RowStyle, datasets: string): string {
  const columns = shape === 'item' ? NESTED : FLAT;
  const list = lists === 'json' ? datasets : `array_to_string(from_json(${datasets}, '["VARCHAR"]'), ';')`;
  const known = columns.map(({ csv }) => csv.replace('$datasets', list));
  const extra = extraFields.map((name) => `csv_text(extra_value(extra, ${quoteLiteral(name)}))`);
  const row = `concat_ws(',', ${[...known, ...extra].join(', ')})`;
  return lineEnd === '\n' ? row : `${row} || chr(13)`;
}

export const CREATE_CSV_MACROS = `
CREATE MACRO csv_text(text) AS coalesce(CASE
  WHEN text = '' OR contains(text, ',') OR contains(text, '"') OR contains(text, chr(10)) OR contains(text, chr(13))
  THEN '"' || replace(text, '"', '""') || '"' ELSE text END, '');
CREATE MACRO csv_money(amount) AS replace(json_money(amount), 'null', '');
CREATE MACRO csv_time(instant) AS coalesce(time_text(instant), '');
CREATE MACRO json_pointer(key) AS '/' || replace(replace(key, '~', '~0'), '/', '~1');
-- Returns the value of a field in extra as text: a string without quotes, and any other value as JSON.
CREATE MACRO extra_value(extra, key) AS ('{' || substr(extra, 2) || '}')::JSON->>json_pointer(key);
`;
