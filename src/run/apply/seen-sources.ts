import type { StaleAfter } from '../../config/pipeline.js';
import type { Landing } from '../../journal/landings.js';
import type { Probes } from '../../journal/reads.js';
import type { RelationGraph } from '../../sql/graph.js';
import { join, type Sql, sql } from '../../sql/sql.js';
import type { FoundLake } from '../open/run-parts.js';
import type { JudgedRun } from './apply.js';
import type { Merge } from './merge.js';
import { findSources, type NextSources } from './sources.js';

/** Finds when each source was last seen, using all rows that the run has read. */
export async function findNextSources(
  found: FoundLake,
  graph: RelationGraph,
  { runId, journal }: Landing,
  { landed, lake, exported, reread, moment }: JudgedRun,
  { merged }: Merge,
): Promise<NextSources> {
  const { tables, repairs, before } = found;
  const { mode, lowWatermark } = landed;
  const isWhole = mode === 'snapshot' && lowWatermark !== undefined;
  // True if there are no stored rows yet, or if they can't be trusted because another program has changed them.
  const isFirst = tables.sources.version < 0n || repairs.sources !== undefined;
  const select = (rows: Sql, readBy: string) =>
    sql`SELECT site_id, source_id, last_seen_at, ${readBy} AS read_by FROM ${rows}`;
  const known = isFirst ? graph.empty('no_sources', 'sources') : await before.rows('sources');
  const probed = selectProbes(journal.state.probes);
  const seen = [
    select(sql`${exported.typed}`, mode === 'poll' ? 'poll' : 'copy'),
    select(sql`${reread.typed}`, 'item'),
    // Ignores sources that the lake doesn't know, because a probe also returns items of datasets that it doesn't copy.
    select(sql`(${probed}) SEMI JOIN ${known} USING (site_id, source_id)`, 'probe'),
    select(sql`${merged}`, 'change'),
    ...(isFirst ? [select(sql`${lake.items}`, 'item')] : []),
  ];
  const isMeasured = isWhole || isFirst || found.isDue;
  return findSources(
    graph,
    {
      sources: known,
      probed,
      seen: join(seen, ' UNION ALL '),
      measured: isMeasured ? (isWhole ? exported.typed : lake.items) : undefined,
      isWhole,
    },
    { staleAfter: await readStaleAfter(found, graph), at: moment.at, runId },
  );
}

/** The default of `analysis.staleAfter`, in seconds. */
export const DEFAULT_STALE_SECONDS = 14 * 24 * 3600;

/** Returns the time after which a source counts as stale, from the pipeline file or, without a file, from the lake. */
async function readStaleAfter(
  { pipeline, before }: Pick<FoundLake, 'pipeline' | 'before'>,
  graph: RelationGraph,
): Promise<StaleAfter> {
  if (pipeline.keepsDeclared !== true) return pipeline.analysis.staleAfter;
  const rules = await before.rows('offer_rules');
  const row = await graph.row(sql`SELECT meaning, CAST(text AS INTEGER) AS n FROM ${rules} WHERE rule = 'stale'`);
  const count = row?.n as number | undefined;
  if (count === undefined) return { seconds: DEFAULT_STALE_SECONDS };
  return row?.meaning === 'intervals' ? { intervals: count } : { seconds: count };
}

function selectProbes({ sites }: Probes): Sql {
  const rows = [...sites].flatMap(([site, found]) =>
    found === undefined ? [] : [sql`(${site}, ${found.source}, ${found.seenAt})`],
  );
  const values = rows.length === 0 ? sql`(NULL, NULL, NULL)` : join(rows, ', ');
  return sql`SELECT CAST(site_id AS BIGINT) AS site_id, CAST(source_id AS BIGINT) AS source_id,
    exact_instant(seen_at) AS last_seen_at
    FROM (VALUES ${values}) AS probes (site_id, source_id, seen_at) WHERE site_id IS NOT NULL`;
}
