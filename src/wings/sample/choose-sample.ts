import type { ApiClient } from '../../api/client.js';
import type { Io } from '../../io/io.js';
import type { Landing } from '../../journal/landings.js';
import { skipSample } from '../../source/allow-skipping.js';
import type { RelationGraph } from '../../sql/graph.js';
import type { Relation } from '../../sql/relation.js';
import { code, sql, writeTyped } from '../../sql/sql.js';
import { type LandedSample, landSample } from './land-sample.js';

/** The items of the sample, with their values in the lake. */
interface ChosenSample {
  rows: Relation;
  ids: bigint[];
}

/** The items of the sample, with their values in the lake and the responses of the service. */
export interface AskedSample extends LandedSample {
  rows: Relation;
}

interface SampledItems {
  items: Relation;
  /** The names of the datasets that the key can read. Undefined if it can read all datasets. */
  readable: readonly string[] | undefined;
  /** The items that the run has already read. They are the first to be sampled. */
  first: readonly bigint[];
}

/**
 * Chooses a random sample of items. The same seed results in the same sample. Skips items that are only in datasets
 * that the key can't read, because the service doesn't return these items.
 */
export async function chooseSample(
  graph: RelationGraph,
  { items, readable, first }: SampledItems,
  size: number,
  seed: string,
): Promise<ChosenSample> {
  const shown =
    readable === undefined
      ? sql``
      : sql` AND (coalesce(len(datasets), 0) = 0 OR list_has_any(datasets, ${code(writeTyped('VARCHAR[]', readable))}))`;
  // This isn't written with IN. DuckDB turns an IN with three or more constants into a join, and then reads all columns
  // of all rows instead of only the sampled rows.
  const isFirst = sql`list_contains([${code(first.join(', '))}]::BIGINT[], item_id)`;
  const rows = graph.table(
    'sampled_items',
    sql`SELECT * FROM ${items} WHERE gone_at IS NULL${shown} ORDER BY NOT ${isFirst}, hash(item_id, ${seed}) LIMIT ${BigInt(size)}`,
  );
  const ids = await graph.rows(sql`SELECT item_id FROM ${rows}`);
  return { rows, ids: ids.map((row) => row.item_id as bigint) };
}

/** Reads the sampled items one by one. Returns undefined if no calls are left or the service doesn't respond. */
export async function askSample(
  { client, io }: { client: ApiClient; io: Io },
  landing: Landing,
  { rows, ids }: ChosenSample,
): Promise<AskedSample | undefined> {
  const landed = await landSample(client, landing, ids, io).catch((error: unknown) => skipSample(error, io));
  return landed && { rows, ...landed };
}
