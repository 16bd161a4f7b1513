import type { CsvFacts } from '../formats/csv.js';
import { LIMITS } from '../io/limits.js';
import { quoteIdentifier, quoteList, quoteLiteral } from '../sql/quote.js';
import { ITEM_VALUE_NAMES } from '../tables/item-names.js';
import { NAMES_MARK } from './dataset-names.js';
import { NUMBER_MARK } from './long-numbers.js';
import { nameColumn, OPEN_OBJECT, ROW, readJsonColumns, type Shape, structType } from './shape.js';

export type Layout =
  | 'lines' // JSON lines, as downloaded
  | 'csv' // CSV as downloaded: a header, then records
  | 'separated'; // JSON lines that add the position and the raw text of a row: {"n": 1, "raw": "…", "row": {…}}

export interface LandedFile {
  /** The absolute path. */
  path: string;
  layout: Layout;
  /** True if the file contains long numbers as strings that start with NUMBER_MARK. */
  marked: boolean;
  /** True if a row exceeds the size limit. DuckDB may still accept the row, depending on its position in the file. */
  hasTooLarge?: boolean;
  part: string;
  readAt: string;
  csv?: Readonly<CsvFacts>;
}

/** Downloaded files with the same layout and structure, which one query can read together. */
type LandedFiles = readonly [LandedFile, ...LandedFile[]];

export function landedItemsSql(files: LandedFiles, shape: Shape): string {
  const file = { ...files[0], marked: files.some(({ marked }) => marked) };
  const prefix = shape.isOpen ? '' : rowPrefix(file);
  const values = ITEM_VALUE_NAMES.map((name) => {
    const sql = shape.values.get(name);
    if (sql === undefined) return `CAST(NULL AS ${name === 'datasets' ? 'VARCHAR[]' : 'VARCHAR'}) AS ${name}`;
    const value = `(${prefix}${sql})`;
    if (shape.texts.has(name)) return `${readText(name, value)} AS ${name}`;
    if (name === 'datasets') return `${value} AS ${name}`;
    if (name === 'attributes') return `${restoreNumbers(`CAST(${value} AS VARCHAR)`, file)} AS ${name}`;
    return `${stripMark(value, file)} AS ${name}`;
  });
  return `SELECT ${[...placeSql(files), ...values, `${extraSql(shape, prefix, file)} AS extra`].join(',\n  ')}
FROM ${rowsSql(files, shape.fields, shape.isOpen)}`;
}

function readText(name: string, value: string): string {
  if (name === 'attributes') {
    // DuckDB normalizes the text, as it does in JSON rows, so that equal attributes have equal text. Text with a long
    // number stays the same, because DuckDB would round the number.
    const json = `CASE WHEN ${hasLongNumber(value)} THEN ${value} ELSE CAST(json(${value}) AS VARCHAR) END`;
    return `CASE WHEN json_valid(${value}) THEN ${json} ELSE CAST(to_json(${value}) AS VARCHAR) END`;
  }
  // Marks a list of names, which is split later, when the datasets' names are known (dataset-names.ts).
  const names = `CASE WHEN ${value} IS NOT NULL THEN [${quoteLiteral(NAMES_MARK)} || ${value}] END`;
  return `CASE WHEN starts_with(${value}, '[') AND json_valid(${value}) THEN from_json(${value}, '["VARCHAR"]') ELSE ${names} END`;
}

/** The fields of a change, with the names in the API document (API §2: Change, ChangeItem, SiteRef). */
export const CHANGE_FIELDS = new Map([
  ['id', 'VARCHAR'],
  ['kind', 'VARCHAR'],
  ['observedAt', 'VARCHAR'],
  ['price', 'VARCHAR'],
  ['previousPrice', 'VARCHAR'],
  ['changes', 'JSON'],
  [
    'item',
    'STRUCT(id VARCHAR, title VARCHAR, url VARCHAR, currency VARCHAR, site STRUCT(id VARCHAR, "name" VARCHAR, host VARCHAR, attribution VARCHAR))',
  ],
]);

const CHANGE_VALUES: [string, string][] = [
  ['id', 'id'],
  ['kind', 'kind'],
  ['observed_at', '"observedAt"'],
  ['price', 'price'],
  ['previous_price', '"previousPrice"'],
  ['item_id', 'item.id'],
  ['title', 'item.title'],
  ['url', 'item.url'],
  ['currency', 'item.currency'],
  ['site_id', 'item.site.id'],
  ['site_name', 'item.site."name"'],
  ['site_host', 'item.site.host'],
  ['site_attribution', 'item.site.attribution'],
];

export function landedChangesSql(file: LandedFile): string {
  const prefix = rowPrefix(file);
  const values = CHANGE_VALUES.map(([name, path]) => `${stripMark(prefix + path, file)} AS ${name}`);
  const changes = `${restoreNumbers(`CAST(${prefix}changes AS VARCHAR)`, file)} AS changes`;
  return `SELECT ${[...placeSql([file]), ...values, changes].join(',\n  ')}
FROM ${rowsSql([file], CHANGE_FIELDS)}`;
}

function placeSql(files: LandedFiles): string[] {
  const separated = files[0].layout === 'separated';
  return [
    `${eachFile(files, ({ part }) => part)} AS part`,
    `${eachFile(files, ({ readAt }) => readAt)} AS read_at`,
    `${separated ? 'n' : 'CAST(NULL AS BIGINT)'} AS line_number`,
    `${separated ? 'raw' : 'CAST(NULL AS VARCHAR)'} AS raw`,
  ];
}

/** The column that DuckDB adds for the path of a row's file. The service is unlikely to use this name for a field. */
const FILE_COLUMN = 'pricelake_landed_file';

/**
 * Builds SQL that maps the file of each row to a text. DuckDB evaluates the CASE once for each vector of rows. It would
 * evaluate a lookup in a list for each row.
 */
function eachFile(files: LandedFiles, fact: (file: LandedFile) => string): string {
  if (files.length === 1) return quoteLiteral(fact(files[0]));
  const cases = files.map((file) => `WHEN ${quoteLiteral(file.path)} THEN ${quoteLiteral(fact(file))}`);
  return `CASE ${FILE_COLUMN} ${cases.join(' ')} END`;
}

export function rowPrefix(file: LandedFile): string {
  return file.layout === 'separated' ? 'row.' : '';
}

/** Builds SQL that reads files with declared columns. To infer the columns, DuckDB would read each file twice. */
export function rowsSql(files: LandedFiles, fields: Map<string, string>, isOpen = false): string {
  const filename = files.length === 1 ? '' : `, filename = '${FILE_COLUMN}'`;
  const source = `${quoteList(files.map(({ path }) => path))}, auto_detect = false${filename}`;
  if (files[0].layout === 'csv') return csvRowsSql(source, files[0].csv ?? { columns: [], quotesNulls: false }, fields);
  const row = isOpen ? OPEN_OBJECT : structType(fields);
  const isWrapped = files[0].layout === 'separated';
  const columns = isWrapped
    ? `{n: 'BIGINT', raw: 'VARCHAR', ${ROW}: ${quoteLiteral(row)}}`
    : readJsonColumns(isOpen ? new Map([[ROW, row]]) : fields);
  return `read_json(${source}, format = 'newline_delimited', records = ${isWrapped || !isOpen}, columns = ${columns})`;
}

/**
 * Builds SQL that reads CSV files according to RFC 4180, with all values as text. An empty cell is null. A quoted empty
 * cell is an empty string, unless the file quotes nulls. A record with the wrong number of cells is an error. A field that
 * only other files have is null.
 */
function csvRowsSql(source: string, { columns, quotesNulls }: Readonly<CsvFacts>, fields: Map<string, string>): string {
  const types = new Map(columns.map((name) => [nameColumn(name), 'VARCHAR']));
  const absent = [...fields.keys()].filter((name) => !types.has(name));
  const nulls = absent.map((name) => `, CAST(NULL AS VARCHAR) AS ${quoteIdentifier(name)}`).join('');
  return `(SELECT *${nulls} FROM read_csv(${source}, header = true, delim = ',', quote = '"', escape = '"', nullstr = '',
  allow_quoted_nulls = ${quotesNulls}, max_line_size = ${LIMITS.rowBytes}, buffer_size = ${2 * LIMITS.rowBytes},
  columns = ${readJsonColumns(types)}))`;
}

export function stripMark(sql: string, file: LandedFile): string {
  if (!file.marked) return sql;
  return `CASE WHEN starts_with(${sql}, ${quoteLiteral(NUMBER_MARK)}) THEN substr(${sql}, 2) ELSE ${sql} END`;
}

/** Builds SQL that turns strings with NUMBER_MARK in JSON text back into plain numbers. */
function restoreNumbers(sql: string, file: LandedFile): string {
  if (!file.marked) return sql;
  return `regexp_replace(${sql}, ${quoteLiteral(`"${NUMBER_MARK}([^"]*)"`)}, '\\1', 'g')`;
}

/** Builds SQL for a JSON object of a row's fields that the API document doesn't list; null if there are none. */
function extraSql(shape: Shape, prefix: string, file: LandedFile): string {
  if (shape.unknown.size === 0) return 'CAST(NULL AS VARCHAR)';
  const members = [...shape.unknown].map(([name, sql]) => {
    const object = [...shape.objects].find((field) => name.startsWith(`${field}.`));
    let value = `CAST(${prefix}${sql} AS VARCHAR)`;
    if (shape.fields.get(nameColumn(name)) === 'VARCHAR') value = textAsJson(prefix + sql);
    else if (object !== undefined && file.layout === 'csv') value = refuseLongNumbers(object, value);
    return `${quoteLiteral(`${JSON.stringify(name)}:`)} || ${value}`;
  });
  return restoreNumbers(`nullif('{' || concat_ws(',', ${members.join(', ')}) || '}', '{}')`, file);
}

/** Builds SQL that fails if an object in a CSV cell contains a long number, because DuckDB would round the number. */
function refuseLongNumbers(object: string, value: string): string {
  const refusal = "error('a number that is not exact in a double')";
  return `CASE WHEN ${hasLongNumber(quoteIdentifier(nameColumn(object)))} THEN ${refusal} ELSE ${value} END`;
}

/** Builds SQL that is true if a text may contain a number that a double can't represent exactly. */
function hasLongNumber(text: string): string {
  return `regexp_matches(${text}, '[0-9][0-9.eE+-]{15}')`;
}

/** Builds SQL that converts a CSV cell to JSON. JSON objects and arrays stay the same. Other text becomes a string. */
function textAsJson(cell: string): string {
  return `CASE WHEN regexp_matches(${cell}, '^[\\[{]') AND json_valid(${cell}) THEN ${cell} ELSE CAST(to_json(${cell}) AS VARCHAR) END`;
}

/** Lists the paths of values that must be objects or null. An outer object precedes the objects inside it. */
export function structPaths(fields: Map<string, string>): string[] {
  const isStruct = (type: string) => type === OPEN_OBJECT || (type.startsWith('STRUCT(') && type.endsWith(')'));
  const paths = [...fields].filter(([, type]) => isStruct(type)).map(([name]) => name);
  return fields === CHANGE_FIELDS ? [...paths, 'item.site'] : paths;
}
