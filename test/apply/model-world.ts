/** Worlds for the models: rows of one item on one day, with its changes and reads. */

import { afterAll } from 'vitest';
import { judgeReads, mergeRows, narrowNeeds } from '../../src/run/apply/apply-in-parts.js';
import { DOUBTED_COLUMNS } from '../../src/run/apply/compare-rows.js';
import { readRejectedRows } from '../../src/run/apply/rejects.js';
import { RowsInParts } from '../../src/run/apply/rows-in-parts.js';
import { Database } from '../../src/sql/connection.js';
import { RelationGraph } from '../../src/sql/graph.js';
import {
  asRows,
  bindModel,
  createMacros,
  type ModelName,
  type Needs,
  type Source,
  type Values,
} from '../../src/sql/model.js';
import { MODELS } from '../../src/sql/models.js';
import { Relation } from '../../src/sql/relation.js';
import { code, sql } from '../../src/sql/sql.js';
import { TABLE_NAMES, type TableName } from '../../src/tables/table.js';
import { type DatasetRename, loadRenames } from '../../src/typing/dataset-names.js';
import { describeSkew, type FeedSkew, measureFeedSkew } from '../../src/typing/feed-skew.js';

type Value = string | number | bigint | boolean | null;
export type Row = Record<string, Value>;

export const NOW = '2026-11-20T12:00:00Z';
/** Hours of 20 November. */
export const at = (hour: number) => `2026-11-20T${String(hour).padStart(2, '0')}:00:00Z`;
export const shown = (hour: number) => `2026-11-20 ${String(hour).padStart(2, '0')}:00:00+00`;

/** A row with each value as text. */
export type Texts = Record<string, string | null>;
type Tables<M extends ModelName> = Partial<Record<keyof Needs<M>, readonly Row[] | Source>>;

export interface Models {
  db: Database;
  graph: RelationGraph;
  /** The rows as texts, with these columns, sorted. */
  readTexts(rows: Source, columns?: string): Promise<Texts[]>;
  /** Binds a model to these tables. Tables that are left out are empty. */
  bind<M extends ModelName>(name: M, tables: Tables<M>, values: Omit<Values<M>, 'run_id' | 'read_at'>): Source;
  play(world: ModelWorld, parts?: RowsInParts): Promise<PlayedWorld>;
}

/** Opens the models in a database for one test file. */
export async function openModels(): Promise<Models> {
  const db = await Database.open();
  afterAll(() => db.close());
  await createMacros(db);
  const graph = new RelationGraph(db);
  const load = (name: string, rows: readonly Row[] | Source = []) =>
    Array.isArray(rows) ? graph.load(name, tableLike(name), rows) : (rows as Source);
  return {
    db,
    graph,
    async readTexts(rows, columns = '*') {
      const texts = sql`SELECT CAST(COLUMNS(*) AS VARCHAR) FROM (SELECT ${code(columns)} FROM ${asRows(rows)}) ORDER BY ALL`;
      return (await graph.rows(texts)) as Texts[];
    },
    bind<M extends ModelName>(name: M, tables: Tables<M>, values: Omit<Values<M>, 'run_id' | 'read_at'>) {
      const needs = MODELS[name].needs.map((need) => [need, load(need, tables[need as keyof Needs<M>])]);
      return bindModel(name, Object.fromEntries(needs), { ...RUN, ...values } as Values<M>);
    },
    play: (world, parts = new RowsInParts(graph, { folder: '', count: 1, key: 'item_id' })) =>
      playWorld(graph, world, parts),
  };
}

const RUN = { run_id: 'this run', read_at: NOW };

/** The table whose columns the relation has. */
function tableLike(name: string): TableName {
  return TABLE_NAMES.find((table) => table === name) ?? (name.endsWith('changes') ? 'history' : 'items');
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

/** A row that this run read completely. */
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
    attributes: '{"stock":1,"color":"red"}',
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

export interface ModelWorld {
  base?: Row[];
  /** Ids of complete rows in the merge base that differ from the lake's. */
  different?: (number | bigint)[];
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
  /** The last change that happened before complete rows were read. */
  watermark?: number;
  /** The column `feed_skew_us` of earlier runs, oldest first. */
  skews?: (number | null)[];
}

/** The relations that a run computes from a world. */
export interface PlayedWorld {
  base: Relation;
  reread: Relation;
  skew: FeedSkew;
  needed: Relation;
  judged: Relation;
  applied: Relation;
}

async function playWorld(graph: RelationGraph, world: ModelWorld, parts: RowsInParts): Promise<PlayedWorld> {
  const load = (name: string, table: TableName, rows: readonly Row[] = []) => graph.load(name, table, rows);
  const [base, reread, missing] = [
    load('base_items', 'items', world.base),
    load('reread_items', 'items', world.reread),
    load('missing_items', 'items', world.missing),
  ];
  const [pending, history] = [
    load('pending_changes', 'history', world.changes),
    load('history', 'history', world.history),
  ];
  const stale = load('stale_items', 'stale_items', world.stale);
  const skews = (world.skews ?? []).map((feed_skew_us, run_number) => ({ run_number, feed_skew_us }));
  const different = code(`SELECT unnest(CAST([${(world.different ?? []).join(', ')}] AS BIGINT[])) AS item_id`);
  const none = graph.empty('no_items', DOUBTED_COLUMNS);
  const values = { ...RUN, watermark: world.watermark === undefined ? null : BigInt(world.watermark) };
  const common = { base_items: base, pending_changes: pending };
  const needs = { ...common, doubted_items: none, rejected_items: none, stale_items: stale };
  const asked = { ...values, feed_skew: null };
  const needed = graph.model('needs', await narrowNeeds(graph, parts, needs, asked), asked);
  const reads = (rows: Relation) => ({ rows, typed: rows, tally: { typed: 0n, repeated: 0n } });
  const [exported, runs] = [graph.empty('exported_items', 'items'), load('runs', 'runs', skews)];
  const evidence = { pending, history, runs, exported: reads(exported), reread: reads(reread) };
  const skew = await measureFeedSkew(graph, evidence);
  const rejected = { rows: readRejectedRows(graph, []), items: none };
  const judging = { ...common, history, needed_items: needed, stale_items: stale, rejected, reread: reads(reread) };
  const { judged, taken } = await judgeReads(graph, parts, judging, { at: NOW, skew });
  const applying = {
    ...common,
    different_items: graph.table('different_items', different),
    missing_items: missing,
    taken_reads: taken,
    renamed_datasets: loadRenames(graph, world.renamedDatasets ?? []),
    renamed_sites: load('renamed_sites', 'sites', world.renamed),
  };
  const applied = await mergeRows(parts, applying, { ...values, ...describeSkew(skew), gone: 0n });
  return { base, reread, skew, needed, judged, applied };
}

/** A table of the session as a relation. */
export const named = (name: string) => new Relation(name, Promise.resolve());
