/** What SQL says about listing states: view `listing_items` beside the service's counts and the pages that were read. */
import type { Database } from '../duckdb/connection.js';
import { readModel } from '../duckdb/model-sql.js';
import { quoteList } from '../duckdb/quote.js';
import type { Reading, SiteCount } from '../plan/choose-readings.js';
import { loadFacets } from './compare-facets.js';

/** So many are read once; more stay in their files, so that memory stays the same however many there are. */
const FEW_ITEMS = 50_000n;

/** Makes `listing_items`, of all datasets or of those with these names; `gone` are no longer visible. */
export async function createListingItems(
  db: Database,
  names: readonly string[] | undefined,
  gone: readonly bigint[],
): Promise<void> {
  await db.run(`SET VARIABLE listing_datasets = from_json($1, '["VARCHAR"]')`, [JSON.stringify(names ?? null)]);
  await db.run(`CREATE OR REPLACE TABLE gone_reads AS
    SELECT unnest(from_json('[${gone.join(', ')}]', '["BIGINT"]')) AS item_id`);
  const count = await db.row('SELECT (SELECT count(*) FROM items) + (SELECT count(*) FROM exported_items) AS n');
  const kind = (count?.n as bigint) > FEW_ITEMS ? 'view' : 'table';
  await db.define(kind, 'listing_items', readModel('listing_items'));
}

/** Whether the service is seen to return removals by `changedSince`; `since` is what all that was read was polled by. */
export async function findEvidence(db: Database, since: string | undefined): Promise<boolean> {
  await db.run('SET VARIABLE polled_since = $1', [since ?? null]);
  const row = await db.row(readModel('listing_evidence'));
  return row?.returned !== 0n || (row.hiding === 0n && row.moving !== 0n);
}

/** Listed items by website, and whether other counts than those differ. */
export interface ListingCounts {
  sites: SiteCount[];
  isSuspect: boolean;
}

/** Compares the answer of `/facets` with view `listing_items`. */
export async function compareListing(db: Database, answer: string): Promise<ListingCounts> {
  await loadFacets(db, answer);
  await db.run('CREATE OR REPLACE VIEW counted_items AS SELECT * FROM listing_items');
  await db.run(`CREATE OR REPLACE TABLE compared_listing AS ${readModel('compare_facets')}`);
  const rows = await db.rows(`SELECT CAST(c.id AS BIGINT) AS site, c.name, c.service, c.lake,
      coalesce(removed, 0) AS removed, coalesce(unread, 0) AS unread
    FROM compared_listing AS c
    LEFT JOIN (SELECT site_id, count(*) FILTER (NOT is_listed) AS removed, count(*) FILTER (NOT is_read) AS unread
      FROM listing_items GROUP BY site_id) AS l ON CAST(l.site_id AS VARCHAR) = c.id
    WHERE c.facet = 'site' AND c.id IS NOT NULL ORDER BY site`);
  const others = await db.row("SELECT count(*) AS n FROM compared_listing WHERE facet <> 'site' AND service <> lake");
  return { sites: rows as unknown as SiteCount[], isSuspect: others?.n !== 0n };
}

/** Items of each website as view `listing_items` has them, the service's counts taken for the same. */
export async function countLakeSites(db: Database): Promise<SiteCount[]> {
  const rows = await db.rows(`SELECT site_id AS site, '' AS name, count(*) FILTER (is_listed) AS lake, lake AS service,
      count(*) FILTER (NOT is_listed) AS removed, count(*) FILTER (NOT is_read) AS unread
    FROM listing_items WHERE site_id IS NOT NULL GROUP BY site_id ORDER BY site_id`);
  return rows as unknown as SiteCount[];
}

/** Items that the lake may have wrong where nothing was compared: those that the run has not read. */
export async function countUnread(db: Database): Promise<bigint> {
  const row = await db.row('SELECT count(*) AS n FROM listing_items WHERE NOT is_read');
  return row?.n as bigint;
}

/** Of these items, those that the lake lists. */
export async function countListedOf(db: Database, ids: readonly bigint[]): Promise<bigint> {
  const row = await db.row(
    `SELECT count(*) AS n FROM listing_items WHERE is_listed AND item_id IN (${ids.join(', ') || 'NULL'})`,
  );
  return row?.n as bigint;
}

/** Items that a reading of all pages should have shown as the lake has them, and that none of these files holds. */
export async function findMissing(
  db: Database,
  { status, site }: Reading,
  files: readonly string[],
): Promise<bigint[]> {
  const where = `is_listed = ${status === 'active'}${site === null ? '' : ` AND site_id = ${site}`}`;
  const rows = await db.rows(`SELECT item_id FROM listing_items WHERE ${where}
    AND item_id NOT IN (SELECT item_id FROM typed_exported_items WHERE list_contains(${quoteList([...files])}, part))
    ORDER BY item_id`);
  return rows.map(({ item_id }) => item_id as bigint);
}

/** Different items that these files hold. */
export async function countRead(db: Database, files: readonly string[]): Promise<bigint> {
  const row = await db.row(`SELECT count(DISTINCT item_id) AS n FROM typed_exported_items
    WHERE list_contains(${quoteList([...files])}, part)`);
  return row?.n as bigint;
}
