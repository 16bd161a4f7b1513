import { createHash } from 'node:crypto';
import type { Pipeline, StaleAfter } from '../../config/pipeline.js';
import type { LakeRows } from '../../lake/table-rows.js';
import type { RelationGraph } from '../../sql/graph.js';
import { sql } from '../../sql/sql.js';
import { DECLARED_TABLES, type DeclaredTableName } from '../../tables/table.js';
import type { Repairs, Tables } from './open-tables.js';

type Analysis = Pipeline['analysis'];

type DeclaredRows = Record<string, string | bigint | boolean | null>[];

interface DeclaredFacts {
  pipeline: Pipeline;
  tables: Tables;
  repairs: Repairs;
}

/** The rows that a table gets from the pipeline file, and the hash that its commit records. */
export interface DeclaredTable {
  table: DeclaredTableName;
  rows: DeclaredRows;
  declared: bigint;
}

/** The default of `analysis.staleAfter`. A lake with this default has no row for it. */
const DEFAULT_STALE_SECONDS = 14 * 24 * 3600;

/** The rows of each table with settings of the pipeline file, without `run_id`. Their order has no meaning. */
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
    ...(analysis.timeZone === 'UTC' ? [] : [tellTimeZone(null, analysis.timeZone)]),
    ...shops.flatMap(([id, { timeZone }]) => (timeZone === undefined ? [] : [tellTimeZone(BigInt(id), timeZone)])),
    ...shops.flatMap(([id, { region }]) => (region === undefined ? [] : [tellRegion(BigInt(id), region)])),
    ...(limit === undefined ? [] : [limit]),
  ];
}

const tellTimeZone = (siteId: bigint | null, text: string) => ({
  ...{ rule: 'time zone', site_id: siteId, meaning: 'shop', text },
});

const tellRegion = (siteId: bigint, text: string) => ({ rule: 'region', site_id: siteId, meaning: 'shop', text });

function listAttributes(siteId: bigint | null, attributes: Analysis['attributes']): DeclaredRows {
  const { shippingCost, regularPrice, values, ...others } = attributes;
  const names = { ...others, 'shipping cost': shippingCost, 'regular price': regularPrice };
  return [...listRules('attribute', siteId, names), ...listRules('value', siteId, values)];
}

/** An empty list of attributes of a website is one row with an empty text: no attribute has this meaning there. */
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

/** Undefined for the default. */
function writeStaleAfter(staleAfter: StaleAfter) {
  const [[meaning, count] = ['', 0]] = Object.entries(staleAfter);
  if (meaning === 'seconds' && count === DEFAULT_STALE_SECONDS) return undefined;
  return { rule: 'stale', site_id: null, meaning, text: String(count) };
}

/** Reads the time for which a source may stay unseen, from the pipeline file, or from the lake if there is none. */
export async function readStaleAfter(
  { pipeline, before }: { pipeline: Pipeline; before: LakeRows },
  graph: RelationGraph,
): Promise<StaleAfter> {
  if (pipeline.keepsDeclared !== true) return pipeline.analysis.staleAfter;
  const rules = await before.rows('offer_rules');
  const row = await graph.row(sql`SELECT meaning, CAST(text AS INTEGER) AS n FROM ${rules} WHERE rule = 'stale'`);
  const count = row?.n as number | undefined;
  if (count === undefined) return { seconds: DEFAULT_STALE_SECONDS };
  return row?.meaning === 'intervals' ? { intervals: count } : { seconds: count };
}

/** Lists the tables whose settings in the pipeline file have changed. */
export function listDeclared({ pipeline, tables, repairs }: DeclaredFacts): DeclaredTable[] {
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

export const isDeclared = (facts: DeclaredFacts): boolean => listDeclared(facts).length > 0;

/** Hashes to 48 bits, because every reader of the log can hold such a number. */
function hashRows(rows: DeclaredRows): bigint {
  const lines = rows.map((row) =>
    JSON.stringify(Object.entries(row).map(([name, value]) => [name, value === null ? null : String(value)])),
  );
  const digest = createHash('sha256').update(lines.sort().join('\n')).digest();
  return BigInt(digest.readUIntBE(0, 6));
}
