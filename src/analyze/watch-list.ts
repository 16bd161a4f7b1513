import { createReadStream } from 'node:fs';
import { copyFile } from 'node:fs/promises';
import { hasSystemCode, PricelakeError } from '../io/errors.js';
import type { Statements } from '../sql/connection.js';
import { bindQuery, readAnalysis } from '../sql/model.js';
import { quoteLiteral } from '../sql/quote.js';
import { itself, Sql, sql } from '../sql/sql.js';
import { readUserLines } from './user-table.js';

const COLUMNS = { columns: ['product', 'price'], optional: ['currency', 'lowest', 'highest'] };
const HINT =
  'A price list is CSV with a header: product,price and optionally currency,lowest,highest; for example 4006381333931,12.99,EUR,9.99,14.99.';

/**
 * The queries that `createFound` saves as tables, so that DuckDB plans each query only once. For a short list, planning
 * takes most of the time.
 */
const PREPARED = new Set(['watch_priced']);

export interface WatchListOptions {
  list: string;
  /** The currency of lines that don't specify one. */
  currency?: string | undefined;
  ownSite?: bigint | undefined;
  /** True to also compare suspect prices, which the `offers` table marks as excluded. */
  withSuspects?: boolean | undefined;
}

export interface WatchOptions extends WatchListOptions {
  /** The Parquet file with the previous result; undefined on the first run. */
  before?: string | undefined;
  now: Date;
}

/** The path, next to the price list, of the file in which `watch` saves its result. */
export const nameState = (list: string): string => `${list}.watch.parquet`;

/**
 * Creates the `watched` table from the published tables. It has a row for each line of a price list
 * (pipelines/analysis/watch_list.sql), with the changes since the previous run and the time of that run.
 * @throws PricelakeError `usage` if the list can't be read, or `config`, with the first invalid line
 */
export async function createWatched(db: Statements, options: WatchOptions): Promise<void> {
  await loadWatchList(db, options);
  await compareWatchList(db, options);
}

/**
 * Creates the `watched` table from `watch_list`. If `hasSpells` is true, reads price spells (periods with one price)
 * from the `price_spells` view. Otherwise, computes the spells itself, because the view may be slow.
 */
export async function compareWatchList(
  db: Statements,
  options: WatchOptions,
  { hasSpells = false }: { hasSpells?: boolean } = {},
): Promise<void> {
  await createFound(db, options, hasSpells);
  // Columns are matched by name, so a column that is missing from an older result is null.
  const before =
    options.before === undefined ? '' : ` UNION ALL BY NAME FROM read_parquet(${quoteLiteral(options.before)})`;
  await db.run(`CREATE OR REPLACE TABLE watched_before AS
    (SELECT *, NULL::TIMESTAMPTZ AS watched_at FROM found LIMIT 0)${before}`);
  await db.run(
    `CREATE OR REPLACE TABLE watched AS SELECT *, $1::TIMESTAMPTZ AS watched_at FROM (${readAnalysis('watch_changes')})`,
    [options.now.toISOString()],
  );
}

/**
 * Creates the `found` and `compliance` tables, which list the periods in which a shop's price was below the lowest
 * allowed price.
 * @throws PricelakeError the errors of `createWatched`, and `config` if none of the lines has a lowest allowed price
 */
export async function createCompliance(db: Statements, options: WatchListOptions): Promise<void> {
  await loadWatchList(db, options);
  const { values, ...sources } = await createFound(db, options);
  const row = await db.row('SELECT count(lowest) AS n FROM watch_list');
  if (row?.n === 0n) {
    const message = `${options.list}: no line has a lowest allowed price, so no shop can be below it`;
    throw new PricelakeError('config', message, { hint: HINT });
  }
  const { text: seen } = bindQuery(readAnalysis('data_clock'), { items: itself('items') });
  const clock = new Sql(`SELECT seen_us AS now_us FROM (${seen})`);
  const { text } = bindQuery(readAnalysis('watch_compliance', PREPARED), { ...sources, clock }, values);
  await db.run(`CREATE OR REPLACE TABLE compliance AS ${text}`);
}

/** A rule for suggested prices: the market price to undercut, and the difference as a percentage such as `2.5`. */
export interface SuggestRule {
  by: 'cheapest' | 'second' | 'median';
  minus: string;
}

/**
 * Creates the `found` and `suggested` tables, with a suggested price for each line of the list.
 * @throws PricelakeError the errors of `createWatched`
 */
export async function createSuggested(db: Statements, options: WatchListOptions, rule: SuggestRule): Promise<void> {
  await loadWatchList(db, options);
  const { values } = await createFound(db, options);
  const by = { suggest_by: quoteLiteral(rule.by), suggest_minus: quoteLiteral(rule.minus) };
  const { text } = bindQuery(readAnalysis('watch_suggest', PREPARED), {}, { ...values, ...by });
  await db.run(`CREATE OR REPLACE TABLE suggested AS ${text}`);
}

/**
 * Creates the `found` and `alarms` tables. Returns the values of their queries' variables, and the relations that the
 * queries read. The relations contain only products on the list, because a lake may be large.
 */
async function createFound(db: Statements, options: WatchListOptions, hasSpells = false) {
  const items = sql`${itself('items')} WHERE product_id IN (SELECT product_id FROM watch_list)`;
  const offers = sql`${itself('offers')} WHERE product_id IN (SELECT product_id FROM watch_list)`;
  const values = { own_site: String(options.ownSite ?? 'NULL'), with_suspects: String(options.withSuspects ?? false) };
  const spells = hasSpells
    ? sql`${itself('price_spells')} WHERE product_id IN (SELECT product_id FROM watch_list)`
    : bindQuery(readAnalysis('price_spells'), { items, offers }, values);
  await db.run(`CREATE OR REPLACE TABLE watch_spells AS ${spells.text}`);
  const price_spells = new Sql('FROM watch_spells');
  const priced = bindQuery(readAnalysis('watch_priced'), { items, offers }, values);
  await db.run(`CREATE OR REPLACE TABLE watch_priced AS ${priced.text}`);
  const found = bindQuery(readAnalysis('watch_list', PREPARED), { items, offers, price_spells }, values);
  await db.run(`CREATE OR REPLACE TABLE found AS ${found.text}`);
  const alarms = bindQuery(readAnalysis('watch_alarms'), {
    watched: new Sql('FROM found'),
    priced: new Sql('FROM watch_priced'),
  });
  await db.run(`CREATE OR REPLACE TABLE alarms AS ${alarms.text}`);
  return { items, offers, price_spells, values };
}

/**
 * Creates the `watch_list` table. If a GTIN is invalid, product_id is null and `reason` describes the problem.
 * @param copy a path to which the list is copied first, if DuckDB may not read the original
 * @throws PricelakeError `usage` if the list can't be read, or `config`, with the first invalid line
 */
export async function loadWatchList(
  db: Statements,
  { list, currency }: Pick<WatchListOptions, 'list' | 'currency'>,
  copy?: string,
): Promise<void> {
  const delimiter = await findDelimiter(list);
  const file = copy ?? list;
  if (copy !== undefined) await copyFile(list, copy);
  const read = { file, rows: 'the price list', ...COLUMNS, hint: HINT, delimiter, isAnyCase: true };
  await readUserLines(db, { ...read, lines: 'watch_text' });
  const sign = delimiter === ';' ? await findDecimalSign(db, file) : '.';
  const money = (name: string) =>
    sign === '.' && delimiter !== ';' ? `trim(${name})` : writePlain(`trim(${name})`, sign);
  const isMoney = (name: string) => String.raw`regexp_full_match(${money(name)}, '\d{1,14}(\.\d{1,4})?')`;
  await db.run(
    `CREATE OR REPLACE TABLE watch_lines AS
     SELECT line, trim(product) AS product, nullif(trim(price), '') AS price, coalesce(nullif(upper(trim(currency)), ''), $1) AS currency,
       nullif(trim(lowest), '') AS lowest, nullif(trim(highest), '') AS highest,
       replace(replace(trim(product), ' ', ''), '-', '') AS digits
     FROM watch_text WHERE coalesce(trim(product), '') <> '' OR coalesce(trim(price), '') <> ''`,
    [currency ?? null],
  );
  await db.run(`CREATE OR REPLACE TABLE watch_list AS
    SELECT * EXCLUDE (digits), CASE
        WHEN regexp_full_match(product, '[0-9][0-9.,]*[eE]\\+[0-9]+') THEN 'the number was cut short by a spreadsheet: ' || product
        WHEN regexp_full_match(digits, '\\d+') AND product_id IS NULL THEN 'not a valid GTIN, which has 8, 12, 13 or 14 digits and a matching check digit'
      END AS reason
    FROM (SELECT *, CASE
        WHEN NOT regexp_full_match(digits, '\\d+') THEN lower(product)
        WHEN len(ltrim(digits, '0')) BETWEEN 1 AND 14 AND ${checkDigitHolds("lpad(ltrim(digits, '0'), 14, '0')")} THEN ltrim(digits, '0')
      END AS product_id FROM watch_lines)`);
  const bad = await db.row(`SELECT line, reason FROM (SELECT line, CASE
      WHEN product = '' OR product IS NULL THEN 'product is missing'
      WHEN price IS NULL THEN 'price is missing'
      ${['price', 'lowest', 'highest'].map((name) => `WHEN ${name} IS NOT NULL AND NOT ${isMoney(name)} THEN '${name} "' || ${name} || '" is not a price such as 12.99'`).join('\n      ')}
      WHEN ${money('price')}::DECIMAL(18, 4) = 0 THEN 'price is 0'
      WHEN currency IS NOT NULL AND NOT regexp_full_match(currency, '[A-Z]{3}') THEN 'currency "' || currency || '" is not an ISO 4217 code such as EUR'
      WHEN ${money('lowest')}::DECIMAL(18, 4) > ${money('highest')}::DECIMAL(18, 4) THEN 'lowest ' || lowest || ' is above highest ' || highest
      WHEN count(*) OVER same > 1 AND line > min(line) OVER same THEN 'the product is already on line ' || min(line) OVER same
    END AS reason FROM watch_list
    WINDOW same AS (PARTITION BY coalesce(product_id, product), currency)) WHERE reason IS NOT NULL ORDER BY line LIMIT 1`);
  if (bad !== undefined) throw new PricelakeError('config', `${file}:${bad.line}: ${bad.reason}`, { hint: HINT });
  const rows = await db.row('SELECT count(*) AS n FROM watch_list');
  if (rows?.n === 0n) throw new PricelakeError('config', `${file}: the file has no products`, { hint: HINT });
  const cast = (name: string) => `${money(name)}::DECIMAL(18, 4) AS ${name}`;
  await db.run(
    `CREATE OR REPLACE TABLE watch_list AS SELECT * REPLACE (${['price', 'lowest', 'highest'].map(cast).join(', ')}) FROM watch_list`,
  );
}

/**
 * Returns SQL that removes thousands separators and uses a decimal point, so that DuckDB can cast the price. The SQL
 * leaves other strings unchanged.
 */
function writePlain(text: string, sign: '.' | ','): string {
  const group = sign === '.' ? ',' : '.';
  const pattern = String.raw`\d{1,3}([${group}]\d{3})*([${sign}]\d+)?|\d+([${sign}]\d+)?`;
  return `CASE WHEN regexp_full_match(${text}, '${pattern}') THEN replace(replace(${text}, '${group}', ''), '${sign}', '.') ELSE ${text} END`;
}

/**
 * Determines whether a semicolon-delimited file uses a decimal point or a decimal comma. A price is unambiguous if, for
 * example, it contains both characters, contains one of them twice, or doesn't end with exactly three decimals.
 * @throws PricelakeError `config` with the line of an ambiguous price, or of a price that contradicts an earlier one
 */
async function findDecimalSign(db: Statements, file: string): Promise<'.' | ','> {
  const rows = await db.rows(String.raw`SELECT line, text, CASE
      WHEN regexp_full_match(text, '\d*\.\d{1,2}|\d*\.\d{4,}|\d{4,}\.\d+|0\.\d+|[\d,]+,\d{3}\.\d*|\d{1,3}(,\d{3}){2,}') THEN '.'
      WHEN regexp_full_match(text, '\d*,\d{1,2}|\d*,\d{4,}|\d{4,},\d+|0,\d+|[\d.]+\.\d{3},\d*|\d{1,3}(\.\d{3}){2,}') THEN ','
    END AS sign
    FROM (SELECT line, trim(unnest([price, lowest, highest])) AS text FROM watch_text)
    WHERE regexp_full_match(text, '[\d.,]*[.,][\d.,]*') ORDER BY line`);
  const sure = rows.find(({ sign }) => sign !== null);
  if (sure !== undefined) {
    const other = rows.find(({ sign }) => sign !== null && sign !== sure.sign);
    if (other === undefined) return sure.sign === '.' ? '.' : ',';
    const words = (sign: unknown) => (sign === '.' ? 'a point' : 'a comma');
    throw new PricelakeError(
      'config',
      `${file}:${other.line}: ${other.text} has ${words(other.sign)} before its decimals, but ${sure.text} on line ${sure.line} has ${words(sure.sign)}`,
      { hint: 'Use the same decimal separator in the whole file.' },
    );
  }
  const [unsure] = rows;
  if (unsure === undefined) return ',';
  const text = String(unsure.text);
  throw new PricelakeError(
    'config',
    `${file}:${unsure.line}: ${text} is ambiguous, because it may mean ${text.replace(/[.,]/, '')}, or ${text.replace(',', '.')} with three decimals`,
    {
      hint: 'Write at least one price in the file with two decimals, such as 1299,00 or 1299.00, so that pricelake can tell which decimal separator the file uses.',
    },
  );
}

/**
 * Returns SQL that validates the GS1 check digit. With alternating weights of 3 and 1, the sum of 14 digits must be a
 * multiple of ten.
 */
function checkDigitHolds(digits: string): string {
  const terms = Array.from(
    { length: 14 },
    (_, k) => `${k % 2 === 0 ? 3 : 1} * substr(${digits}, ${k + 1}, 1)::INTEGER`,
  );
  return `(${terms.join(' + ')}) % 10 = 0`;
}

async function findDelimiter(file: string): Promise<string> {
  try {
    for await (const chunk of createReadStream(file, { encoding: 'utf8', end: 4095 })) {
      const [header = ''] = String(chunk).split('\n', 1);
      return [',', ';', '\t'].find((mark) => header.includes(mark)) ?? ',';
    }
  } catch (cause) {
    if (!hasSystemCode(cause, 'ENOENT', 'EISDIR', 'EACCES')) throw cause;
    throw new PricelakeError('usage', `--list ${file}: can't read the file`, { hint: HINT }, { cause });
  }
  throw new PricelakeError('config', `${file}: the file is empty`, { hint: HINT });
}
