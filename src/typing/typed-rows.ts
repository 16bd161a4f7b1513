import type { RelationGraph } from '../sql/graph.js';
import { quoteIdentifier } from '../sql/quote.js';
import type { Relation } from '../sql/relation.js';
import { code, columnsOf, readFiles, type Sql, sql } from '../sql/sql.js';
import type { ItemValue } from '../tables/item-names.js';
import { loadTableSchema } from '../tables/schemas.js';
import type { Origin, TypedFile } from './type-file.js';

/** The number of typed rows, and of rows that repeat the key of another row. */
export interface Tally {
  typed: bigint;
  repeated: bigint;
}

export interface ItemReads {
  /** The newest row of each item, with the columns of the table `items`. */
  rows: Relation;
  /** All typed rows, including the names of their downloaded files (`part`) and their websites' credit texts. */
  typed: Relation;
  tally: Tally;
}

export const countTyped = (files: readonly TypedFile[]) => files.reduce((sum, { rows }) => sum + BigInt(rows), 0n);

/** Selects the typed rows that weren't rejected, with their position: `filename` and `file_row_number`. */
export function goodRows(files: readonly TypedFile[]): Sql {
  const paths = files.map((file) => file.typedPath);
  const rows = readFiles('read_parquet', paths, ['file_row_number = true'], { hasNames: true });
  return sql`(SELECT * FROM ${rows} WHERE reject_reason IS NULL)`;
}

/**
 * Selects the first row of each `key` in this `order`. Stores the positions of the other rows in a table. The table is
 * small, because a key repeats only if an item moves to another page or shard during the download.
 */
export function leaveOutRepeated(
  graph: RelationGraph,
  keyed: { rows: Sql | Relation; key: string; order: string },
): Sql {
  return leaveOut(keyed.rows, findRepeated(graph, keyed));
}

function findRepeated(
  graph: RelationGraph,
  { rows, key, order }: { rows: Sql | Relation; key: string; order: string },
): Relation {
  return graph.table(
    'repeated',
    sql`SELECT filename, file_row_number FROM ${rows}
    SEMI JOIN (SELECT ${code(key)} FROM ${rows} GROUP BY ${code(key)} HAVING count(*) > 1) USING (${code(key)})
    QUALIFY row_number() OVER (PARTITION BY ${code(key)} ORDER BY ${code(order)}) > 1`,
  );
}

const leaveOut = (rows: Sql | Relation, places: Relation) =>
  sql`${rows} ANTI JOIN ${places} USING (filename, file_row_number)`;

export async function countRepeated(graph: RelationGraph, rows: Sql | Relation, key: string): Promise<Tally> {
  const row = await graph.row(
    sql`SELECT count(*) AS typed, count(*) - count(DISTINCT ${code(key)}) AS repeated FROM ${rows}`,
  );
  return { typed: row?.typed as bigint, repeated: row?.repeated as bigint };
}

/** The columns of typed item rows that the table `items` doesn't have. */
const TYPED_COLUMNS = [
  { name: 'part', type: 'VARCHAR' },
  { name: 'site_attribution', type: 'VARCHAR' },
];

/** Fields that no export row has. A missing field doesn't mean null, so rows keep the lake's values of these fields. */
export interface AbsentFields {
  names: readonly ItemValue[];
  items: Relation;
}

/** Reads typed files of items. The files never change, so each set of files is read only once. */
export class ItemReader {
  readonly #graph: RelationGraph;
  /** A pattern that finds dataset names in text (dataset-names.ts); null if no name is known. */
  readonly #datasetPattern: string | null;
  readonly #read = new Map<string, Promise<ItemReads>>();

  constructor(graph: RelationGraph, datasetPattern: string | null) {
    this.#graph = graph;
    this.#datasetPattern = datasetPattern;
  }

  /** Reads the rows of exports and pages, which the run read before the changes. */
  exported(files: readonly TypedFile[], absent?: AbsentFields): Promise<ItemReads> {
    return this.#readOnce('exported_items', ['export', 'page'], files, absent);
  }

  /** Reads the rows of items that the run read again after the changes. */
  reread(files: readonly TypedFile[]): Promise<ItemReads> {
    return this.#readOnce('reread_items', ['reread'], files, undefined);
  }

  #readOnce(
    label: string,
    origins: readonly Origin[],
    files: readonly TypedFile[],
    absent: AbsentFields | undefined,
  ): Promise<ItemReads> {
    const own = files.filter((file) => origins.includes(file.origin));
    const key = JSON.stringify([label, own.map(({ typedPath }) => typedPath), absent?.names]);
    const before = this.#read.get(key);
    if (before !== undefined) return before;
    const read = this.#readFiles(label, own, absent);
    this.#read.set(key, read);
    return read;
  }

  async #readFiles(label: string, own: readonly TypedFile[], absent: AbsentFields | undefined): Promise<ItemReads> {
    const graph = this.#graph;
    if (own.length === 0) return noReads(graph, label);
    const count = countTyped(own);
    const names = sql`dataset_names(datasets, ${this.#datasetPattern})`;
    const good = sql`SELECT * REPLACE (${names} AS datasets) FROM ${goodRows(own)}`;
    const typed = graph.rowsOf(`typed_${label}`, good, count);
    const tally = await countRepeated(graph, typed, 'item_id');
    const order = 'last_changed_at DESC NULLS LAST, last_seen_at DESC NULLS LAST, read_at DESC, part DESC';
    const repeated = tally.repeated > 0n ? findRepeated(graph, { rows: typed, key: 'item_id', order }) : undefined;
    const newest = repeated === undefined ? sql`${typed}` : leaveOut(typed, repeated);
    const rows = sql`SELECT ${columnsOf('items')} FROM ${newest}`;
    const hasWork = tally.repeated > 0n || absent !== undefined;
    const select = absent === undefined ? rows : keepAbsent(rows, absent);
    return { rows: hasWork ? graph.rowsOf(label, select, count) : graph.view(label, select), typed, tally };
  }
}

export function noReads(graph: RelationGraph, label: string): ItemReads {
  const { columns } = loadTableSchema('items');
  return {
    rows: graph.empty(label, 'items'),
    typed: graph.empty(`typed_${label}`, [...columns, ...TYPED_COLUMNS]),
    tally: { typed: 0n, repeated: 0n },
  };
}

/** Replaces missing fields with the lake's values, and recomputes the columns that depend on them. */
function keepAbsent(rows: Sql, { names, items }: AbsentFields): Sql {
  const value = (name: ItemValue) => (names.includes(name) ? `coalesce(e.${name}, k.${name})` : `e.${name}`);
  const replaced = [
    ...names.map((name) => `${value(name)} AS ${quoteIdentifier(name)}`),
    `valid_gtin14(${value('gtin')}) AS gtin14`,
    `product_key(${value('gtin')}, ${value('brand')}, ${value('mpn')}) AS product_id`,
  ];
  return sql`SELECT e.* REPLACE (${code(replaced.join(', '))})
    FROM (${rows}) AS e LEFT JOIN ${items} AS k ON k.item_id = e.item_id`;
}
