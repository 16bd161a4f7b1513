import type { Database } from '../duckdb/connection.js';
import { readModel } from '../duckdb/model-sql.js';
import { selectColumns } from './batch.js';

/**
 * Table `site_refs`: every website that a landed row shows. The service shows a website as it is when it answers: the
 * later answer holds, by `rank` (feed before the export, export, feed after it, whole reads), then by `place`. What a
 * webhook shows may be a day old: it only adds websites that are not known yet.
 */
async function createSiteRefs(db: Database, applyFrom: bigint): Promise<void> {
  const site = `site_id, coalesce(site_name, site_host, '') AS name, coalesce(site_host, '') AS host,
    site_attribution AS attribution`;
  const items = (view: string, rank: number) =>
    `SELECT ${site}, ${rank} AS rank, max(epoch_us(last_seen_at)) AS place FROM ${view} GROUP BY ALL`;
  await db.run(`CREATE OR REPLACE TABLE site_refs AS
    ${items('typed_exported_items', 1)} UNION ALL ${items('typed_reread_items', 3)} UNION ALL
    SELECT ${site}, CASE WHEN change_id > CAST('${applyFrom}' AS BIGINT) THEN 2 ELSE 0 END AS rank, max(change_id) AS place
    FROM typed_changes WHERE site_id IS NOT NULL AND origin = 'feed' GROUP BY ALL
    UNION ALL SELECT ${site}, -1 AS rank, max(change_id) AS place FROM typed_changes
    WHERE origin = 'webhook' AND site_id NOT IN (SELECT site_id FROM sites) GROUP BY ALL`);
}

/** What websites become. */
export interface NextSites {
  /** SQL of table `sites` after the run, or undefined when no website is new or different. */
  select: string | undefined;
  renamed: bigint;
}

/**
 * Leaves table `next_sites`, all websites after the run, and table `renamed_sites`: current name and host of websites
 * that rows of items name in another way.
 */
export async function selectSites(db: Database, applyFrom: bigint): Promise<NextSites> {
  await createSiteRefs(db, applyFrom);
  await db.run(`CREATE OR REPLACE TABLE next_sites AS ${readModel('sites')}`);
  await db.run(`CREATE OR REPLACE TABLE renamed_sites AS
    SELECT site_id, name, host FROM next_sites
    WHERE is_current AND site_id IN (
      SELECT site_id
      FROM (SELECT site_id, name, host FROM site_refs UNION ALL SELECT site_id, name, host FROM sites WHERE is_current)
      GROUP BY site_id HAVING count(DISTINCT {'name': name, 'host': host}) > 1)`);
  const counts = await db.row(`SELECT (SELECT count(*) FROM renamed_sites) AS renamed, count(*) AS changed
    FROM next_sites WHERE run_id = CAST(getvariable('run_id') AS VARCHAR) AND valid_to IS NULL`);
  return {
    select: counts?.changed === 0n ? undefined : `SELECT ${selectColumns('sites')} FROM next_sites`,
    renamed: counts?.renamed as bigint,
  };
}
