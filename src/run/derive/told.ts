import { createHash } from 'node:crypto';
import type { StaleAfter } from '../../apply/sources.js';
import type { Pipeline } from '../../config/pipeline-file.js';
import { replaceAll } from '../../lake/table-change.js';
import { columnsOf, sql } from '../../sql/sql.js';
import { TOLD_TABLES, type ToldTableName } from '../../tables/table.js';
import type { Run } from '../open/open-run.js';
import type { StagedTable, Staging } from './stage.js';

type Analysis = Pipeline['analysis'];

type ToldRows = Record<string, string | bigint | boolean | null>[];

type Asked = Pick<Run, 'pipeline' | 'tables' | 'repairs'>;

/** \`analysis.staleAfter\` by default: a lake that was told nothing else has no row of it. */
const DEFAULT_STALE_SECONDS = 14 * 24 * 3600;

/** Rows of each table of the pipeline file, without `run_id`, in an order that says nothing. */
const LISTS: Record<ToldTableName, (pipeline: Pipeline) => ToldRows> = {
  offer_rules: listOfferRules,
  user_matches: listUserMatches,
};

function listOfferRules({ analysis }: Pipeline): ToldRows {
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

function listAttributes(siteId: bigint | null, attributes: Analysis['attributes']): ToldRows {
  const { shippingCost, regularPrice, values, ...others } = attributes;
  const names = { ...others, 'shipping cost': shippingCost, 'regular price': regularPrice };
  return [...listRules('attribute', siteId, names), ...listRules('value', siteId, values)];
}

/** An empty list of attributes of a website is one row with an empty text: none tells this there. */
function listRules(
  rule: 'word' | 'attribute' | 'value',
  siteId: bigint | null,
  lists: Readonly<Record<string, readonly string[] | undefined>>,
): ToldRows {
  return Object.entries(lists).flatMap(([meaning, texts]) => {
    if (rule === 'attribute' && siteId !== null && texts?.length === 0)
      return [{ rule, site_id: siteId, meaning, text: '' }];
    return [...new Set(texts)].map((text) => ({ rule, site_id: siteId, meaning, text }));
  });
}

function listUserMatches({ userMatches = [] }: Pipeline): ToldRows {
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

/** The time that a source may stay unseen: as the pipeline file says, or as the lake was told. */
export async function readStaleAfter({ pipeline, before, graph }: Run): Promise<StaleAfter> {
  if (pipeline.keepsTold !== true) return pipeline.analysis.staleAfter;
  const rules = await before.rows('offer_rules');
  const row = await graph.row(sql`SELECT meaning, CAST(text AS INTEGER) AS n FROM ${rules} WHERE rule = 'stale'`);
  const count = row?.n as number | undefined;
  if (count === undefined) return { seconds: DEFAULT_STALE_SECONDS };
  return row?.meaning === 'intervals' ? { intervals: count } : { seconds: count };
}

/** True where the pipeline file says other rows than a table of it has. */
export function isTold(run: Asked): boolean {
  return TOLD_TABLES.some((table) => isOther(run, table));
}

/** Stages the tables whose rows the pipeline file says, where it says others than before. */
export async function stageTold(run: Run, staging: Staging): Promise<StagedTable[]> {
  const others = TOLD_TABLES.filter((table) => isOther(run, table));
  return Promise.all(
    others.map((table) => {
      const told = listRows(run, table);
      const rows = told.map((row) => ({ ...row, run_id: run.landing.runId }));
      const select = sql`SELECT ${columnsOf(table)} FROM ${run.graph.load(`told_${table}`, table, rows)}`;
      return staging.stage(table, replaceAll(run.tables[table], select), { told: hashRows(told) });
    }),
  );
}

function isOther(run: Asked, table: ToldTableName): boolean {
  if (run.pipeline.keepsTold === true) return run.tables[table].version < 0n;
  return run.repairs[table] !== undefined || run.tables[table].applied.told !== hashRows(listRows(run, table));
}

const listRows = ({ pipeline }: Asked, table: ToldTableName) =>
  pipeline.keepsTold === true ? [] : LISTS[table](pipeline);

/** 48 bits, because every reader of the log takes such a number. */
function hashRows(rows: ToldRows): bigint {
  const lines = rows.map((row) =>
    JSON.stringify(Object.entries(row).map(([name, value]) => [name, value === null ? null : String(value)])),
  );
  const digest = createHash('sha256').update(lines.sort().join('\n')).digest();
  return BigInt(digest.readUIntBE(0, 6));
}
