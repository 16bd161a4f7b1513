import type { RelationGraph } from '../../sql/graph.js';
import type { Relation } from '../../sql/relation.js';
import { columnsOf, type Sql, sql } from '../../sql/sql.js';
import { ORIGIN } from '../../tables/table.js';
import type { ItemReads } from '../../typing/typed-rows.js';

/** The websites as they are after the run. */
export interface NextSites {
  rows: Relation;
  /** All rows of the sites table; undefined if no website is new or has changed. */
  changed: Sql | undefined;
  /** The current name and host of each website whose name or host has changed. */
  renamed: Relation;
  renamedCount: bigint;
}

export interface SiteSources {
  sites: Relation;
  changes: Relation;
  exported: ItemReads;
  reread: ItemReads;
}

export async function findSites(
  graph: RelationGraph,
  sources: SiteSources,
  { runId, at, applyFrom }: { runId: string; at: string; applyFrom: bigint },
): Promise<NextSites> {
  const { sites } = sources;
  const refs = listSiteRefs(graph, sources, applyFrom);
  const rows = graph.model('sites', { site_refs: refs, sites }, { read_at: at, run_id: runId });
  const renamed = graph.table(
    'renamed_sites',
    sql`SELECT site_id, name, host FROM ${rows}
    WHERE is_current AND site_id IN (
      SELECT site_id
      FROM (SELECT site_id, name, host FROM ${refs} UNION ALL SELECT site_id, name, host FROM ${sites} WHERE is_current)
      GROUP BY site_id HAVING count(DISTINCT {'name': name, 'host': host}) > 1)`,
  );
  const counts = await graph.row(sql`SELECT (SELECT count(*) FROM ${renamed}) AS renamed, count(*) AS changed
    FROM ${rows} WHERE run_id = ${runId} AND valid_to IS NULL`);
  const changed = counts?.changed === 0n ? undefined : sql`SELECT ${columnsOf('sites')} FROM ${rows}`;
  return { rows, changed, renamed, renamedCount: counts?.renamed as bigint };
}

/**
 * Lists each website that a landed row names. If rows disagree about a website's name or host, the newest row is used.
 * The feed before the export comes first (`rank` 0), then the export, the feed after the export, and single reads.
 * `place` orders the rows within a rank. An early change may be a day old, so it adds only websites that the lake
 * doesn't have.
 */
function listSiteRefs(
  graph: RelationGraph,
  { sites, changes, exported, reread }: SiteSources,
  applyFrom: bigint,
): Relation {
  const site = sql`site_id, coalesce(site_name, site_host, '') AS name, coalesce(site_host, '') AS host,
    site_attribution AS attribution`;
  const items = ({ typed }: ItemReads, rank: number) =>
    sql`SELECT ${site}, ${rank} AS rank, max(epoch_us(last_seen_at)) AS place FROM ${typed} GROUP BY ALL`;
  return graph.table(
    'site_refs',
    sql`${items(exported, 1)} UNION ALL ${items(reread, 3)} UNION ALL
    SELECT ${site}, CASE WHEN change_id > ${applyFrom} THEN 2 ELSE 0 END AS rank, max(change_id) AS place
    FROM ${changes} WHERE site_id IS NOT NULL AND origin = ${ORIGIN.feed} GROUP BY ALL
    UNION ALL SELECT ${site}, -1 AS rank, max(change_id) AS place FROM ${changes}
    WHERE origin = ${ORIGIN.early} AND site_id NOT IN (SELECT site_id FROM ${sites}) GROUP BY ALL`,
  );
}
