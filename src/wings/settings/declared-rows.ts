import { createHash } from 'node:crypto';
import type { Pipeline, StaleAfter } from '../../config/pipeline.js';
import { DEFAULT_STALE_SECONDS } from '../../run/apply/seen-sources.js';
import type { FoundLake } from '../../run/open/run-parts.js';
import { DECLARED_TABLES, type DeclaredTableName } from '../../tables/table.js';

type Analysis = Pipeline['analysis'];

type DeclaredRows = Record<string, string | bigint | boolean | null>[];

/** A table's rows according to the pipeline file, with their hash, which the table's commit records. */
export interface DeclaredTable {
  table: DeclaredTableName;
  rows: DeclaredRows;
  declared: bigint;
}

/** For each table, the function that builds its rows from the pipeline file, unsorted and without `run_id`. */
const LISTS: Record<DeclaredTableName, (pipeline: Pipeline) => DeclaredRows> = {
  offer_rules: listOfferRules,
  user_matches: listUserMatches,
};

function listOfferRules({ analysis }: Pipeline): DeclaredRows {
  const shops = Object.entries(analysis.shops);
  const limit = writeStaleAfter(analysis.staleAfter);
  return [
    ...listRules('word', null, analysis.words),
    ...listAttributes(null, analysis.attributes),
    ...shops.flatMap(([id, { attributes }]) => listAttributes(BigInt(id), attributes)),
    ...listShop('time zone', null, analysis.timeZone === 'UTC' ? undefined : analysis.timeZone),
    ...shops.flatMap(([id, { timeZone }]) => listShop('time zone', BigInt(id), timeZone)),
    ...shops.flatMap(([id, { region }]) => listShop('region', BigInt(id), region)),
    ...(limit === undefined ? [] : [limit]),
  ];
}

function listShop(rule: 'time zone' | 'region', siteId: bigint | null, text: string | undefined): DeclaredRows {
  return text === undefined ? [] : [{ rule, site_id: siteId, meaning: 'shop', text }];
}

function listAttributes(siteId: bigint | null, attributes: Analysis['attributes']): DeclaredRows {
  const { shippingCost, regularPrice, values, ...others } = attributes;
  const names = { ...others, 'shipping cost': shippingCost, 'regular price': regularPrice };
  return [...listRules('attribute', siteId, names), ...listRules('value', siteId, values)];
}

/** Builds a row for each string. A website's empty list becomes a row with an empty string, meaning no attribute. */
function listRules(
  rule: 'word' | 'attribute' | 'value',
  siteId: bigint | null,
  lists: Readonly<Record<string, readonly string[] | undefined>>,
): DeclaredRows {
  return Object.entries(lists).flatMap(([meaning, texts]) => {
    if (rule === 'attribute' && siteId !== null && texts?.length === 0)
      return [{ rule, site_id: siteId, meaning, text: '' }];
    return [...new Set(texts)].map((text) => ({ rule, site_id: siteId, meaning, text }));
  });
}

function listUserMatches({ userMatches = [] }: Pipeline): DeclaredRows {
  return userMatches.map(({ productId, otherId, isMatch }) => ({
    product_id: productId,
    other_id: otherId,
    is_match: isMatch,
  }));
}

/** Builds the row of `staleAfter`. Returns undefined for the default value, which is stored without a row. */
function writeStaleAfter(staleAfter: StaleAfter) {
  const [[meaning, count] = ['', 0]] = Object.entries(staleAfter);
  if (meaning === 'seconds' && count === DEFAULT_STALE_SECONDS) return undefined;
  return { rule: 'stale', site_id: null, meaning, text: String(count) };
}

/** Returns the tables whose settings in the pipeline file have changed since the last run. */
export function listDeclared({
  pipeline,
  tables,
  repairs,
}: Pick<FoundLake, 'pipeline' | 'tables' | 'repairs'>): DeclaredTable[] {
  return DECLARED_TABLES.flatMap((table) => {
    const isKept = pipeline.keepsDeclared === true;
    const rows = isKept ? [] : LISTS[table](pipeline);
    const declared = hashRows(rows);
    const isOther = isKept
      ? tables[table].version < 0n
      : repairs[table] !== undefined || tables[table].applied.declared !== declared;
    return isOther ? [{ table, rows, declared }] : [];
  });
}

/** Computes a 48-bit hash of the rows, which every reader of a transaction log can represent exactly. */
function hashRows(rows: DeclaredRows): bigint {
  const lines = rows.map((row) =>
    JSON.stringify(Object.entries(row).map(([name, value]) => [name, value === null ? null : String(value)])),
  );
  const digest = createHash('sha256').update(lines.sort().join('\n')).digest();
  return BigInt(digest.readUIntBE(0, 6));
}
