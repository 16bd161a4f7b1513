/** Rows as the models see them: a day of one item, and what is told and read of it. */

import type { DatasetRename } from '../../src/apply/dataset-names.js';
import { describeSkew, type FeedSkew, measureFeedSkew } from '../../src/apply/feed-skew.js';
import { judgeReads } from '../../src/apply/judge-reads.js';
import { Database } from '../../src/sql/connection.js';
import { RelationGraph } from '../../src/sql/graph.js';
import { createMacros, readModel } from '../../src/sql/model.js';
import { Relation } from '../../src/sql/relation.js';
import { type ValueTypes, writeTyped } from '../../src/sql/sql.js';
import { loadRows } from '../load-rows.js';

type Value = string | number | bigint | boolean | null;
export type Row = Record<string, Value>;

export const NOW = '2026-11-20T12:00:00Z';
/** Hours of 20 November. */
export const at = (hour: number) => `2026-11-20T${String(hour).padStart(2, '0')}:00:00Z`;
export const shown = (hour: number) => `2026-11-20 ${String(hour).padStart(2, '0')}:00:00+00`;

export async function openModels(): Promise<Database> {
  const db = await Database.open();
  await createMacros(db);
  await db.run("SET VARIABLE run_id = 'this run'");
  await db.run(`SET VARIABLE read_at = '${NOW}'`);
  return db;
}

export async function readModelRows(db: Database, name: string, columns: string): Promise<Record<string, unknown>[]> {
  const rows = await db.rows(`SELECT ${columns} FROM (${readModel(name)}) ORDER BY ALL`);
  return rows.map((row) =>
    Object.fromEntries(Object.entries(row).map(([key, value]) => [key, value === null ? null : String(value)])),
  );
}

export const item = (row: Row): Row => ({
  item_id: 1,
  title: 'A',
  price: 10,
  currency: 'EUR',
  url: 'u',
  site_id: 7,
  site_name: 'Shop',
  site_host: 'shop.example',
  first_seen_at: at(1),
  last_seen_at: at(5),
  last_changed_at: at(5),
  is_listed: true,
  run_id: 'earlier run',
  change_id: 100,
  ...row,
});

/** A row that this run read whole. */
export const read = (row: Row): Row => item({ run_id: 'this run', change_id: null, ...row });

export const change = (row: Row): Row => ({
  change_id: 101,
  item_id: 1,
  kind: 'CHANGED',
  observed_at: at(6),
  price: 11,
  previous_price: 10,
  currency: 'EUR',
  changes: '{"price":[10,11]}',
  title: 'A',
  url: 'u',
  site_id: 7,
  ...row,
});

/** A row with a value in every column that can have one while the item is listed. */
export const fullItem = (row: Row): Row =>
  item({
    brand: 'Acme',
    mpn: 'M-1',
    gtin: '4006381333931',
    gtin14: '04006381333931',
    product_id: '4006381333931',
    previous_price: 9,
    price_changed_at: at(4),
    image: 'i',
    attributes: '{"stock":1,"colour":"red"}',
    category_name: 'Pens',
    category_path: 'Office > Pens',
    category_slug: 'pens',
    category_source: 'shop',
    datasets: '[a, b]',
    source_id: 3,
    source_name: 'Source',
    extra: '{"x":1}',
    read_at: at(5),
    ...row,
  });

/** Rows with all columns as texts. */
export async function readTexts(db: Database, relation: string): Promise<Record<string, unknown>[]> {
  return db.rows(`SELECT CAST(COLUMNS(*) AS VARCHAR) FROM ${relation} ORDER BY ALL`);
}

export interface ModelWorld {
  base?: Row[];
  /** Ids of whole rows of the merge base that are not as the lake has them. */
  different?: number[];
  reread?: Row[];
  changes?: Row[];
  renamed?: Row[];
  /** Datasets by their former names. */
  renamedDatasets?: DatasetRename[];
  /** Rows that a complete copy lacks. */
  missing?: Row[];
  /** Rows of the lake's tables. */
  stale?: Row[];
  history?: Row[];
  /** Changes up to it happened before whole rows were read. */
  watermark?: number;
  /** `feed_skew_us` of the runs so far, oldest first. */
  skews?: (number | null)[];
}

/** Loads the tables that models read, as an analyst would: by their names, with values as variables. */
export async function loadWorld(db: Database, world: ModelWorld): Promise<FeedSkew> {
  await loadRows(db, 'base_items', 'items', world.base ?? []);
  await loadRows(db, 'exported_items', 'items', []);
  await loadRows(db, 'reread_items', 'items', world.reread ?? []);
  await loadRows(db, 'pending_changes', 'history', world.changes ?? []);
  await loadRows(db, 'renamed_sites', 'sites', world.renamed ?? []);
  const renames = world.renamedDatasets ?? [];
  const list = (names: string[]) => writeTyped('VARCHAR[]', names);
  await db.run(`CREATE OR REPLACE TABLE renamed_datasets AS
    SELECT unnest(${list(renames.map(({ former }) => former))}) AS former, unnest(${list(renames.map(({ name }) => name))}) AS name`);
  await loadRows(db, 'missing_items', 'items', world.missing ?? []);
  await loadRows(db, 'stale_items', 'stale_items', world.stale ?? []);
  await loadRows(db, 'history', 'history', world.history ?? []);
  const skews = (world.skews ?? []).map((skew, n) => `(${n}, ${skew ?? 'NULL'})`);
  await db.run('CREATE OR REPLACE TABLE runs (run_number BIGINT, feed_skew_us BIGINT)');
  if (skews.length > 0) await db.run(`INSERT INTO runs VALUES ${skews.join(', ')}`);
  await db.run(`CREATE OR REPLACE TABLE different_items AS
    SELECT unnest(CAST([${(world.different ?? []).join(', ')}] AS BIGINT[])) AS item_id`);
  await db.run('CREATE OR REPLACE TABLE doubted_items (item_id BIGINT, observed_at TIMESTAMP WITH TIME ZONE)');
  await db.run('CREATE OR REPLACE TABLE rejected_items (item_id BIGINT, observed_at TIMESTAMP WITH TIME ZONE)');
  await db.run(`CREATE OR REPLACE TABLE rejected_rows
    (origin VARCHAR, item_id BIGINT, change_id BIGINT, kind VARCHAR, observed_at TIMESTAMP WITH TIME ZONE)`);
  await db.run('SET VARIABLE watermark = $1::BIGINT', [world.watermark ?? null]);
  await db.run(`CREATE OR REPLACE TABLE needed_items AS ${readModel('needs')}`);
  const graph = new RelationGraph(db);
  const [pending, history] = [named('pending_changes'), named('history')];
  const reads = (name: string) => ({ rows: named(name), typed: named(name), tally: { typed: 0n, repeated: 0n } });
  const [exported, reread] = [reads('exported_items'), reads('reread_items')];
  const skew = await measureFeedSkew(graph, { pending, history, runs: named('runs'), exported, reread });
  const values = describeSkew(skew);
  await setVariable(db, 'feed_skew', 'INTERVAL', values.feed_skew);
  await setVariable(db, 'feed_skew_is_known', 'BOOLEAN', values.feed_skew_is_known);
  const { judged, taken } = await judgeReads(
    graph,
    {
      ...{ base_items: named('base_items'), history, needed_items: named('needed_items'), pending_changes: pending },
      ...{ stale_items: named('stale_items'), reread },
      rejected: { rows: named('rejected_rows'), items: named('rejected_items') },
    },
    { at: NOW, skew },
  );
  await taken.made;
  await db.run(`CREATE OR REPLACE VIEW judged_reads AS FROM "${judged.name}"`);
  await db.run(`CREATE OR REPLACE VIEW taken_reads AS FROM "${taken.name}"`);
  return skew;
}

/** A table of the session as a relation. */
export const named = (name: string) => new Relation(name, Promise.resolve());

async function setVariable<T extends keyof ValueTypes>(
  db: Database,
  name: string,
  type: T,
  value: ValueTypes[T] | null,
) {
  await db.run(`SET VARIABLE ${name} = ${writeTyped(type, value)}`);
}
