/** Computes the listing states of items from the lake's items, the service's counts, and the pages that were read. */

import { loadFacets } from '../../run/land/facets.js';
import type { RelationGraph } from '../../sql/graph.js';
import { bindModel } from '../../sql/model.js';
import { quoteList } from '../../sql/quote.js';
import type { Relation } from '../../sql/relation.js';
import { code, sql } from '../../sql/sql.js';
import type { Reading, SiteCount } from './choose-readings.js';

/** The items of the lake as this run would publish them, with the columns that determine their listing state. */
export interface ListingRows {
  items: Relation;
  typed: Relation;
}

export interface ListingSources {
  items: Relation;
  exported_items: Relation;
  pending_changes: Relation;
}

/** Reads the items of the named datasets, or all items. @param gone items that the service no longer returns */
export async function readListingItems(
  graph: RelationGraph,
  sources: ListingSources,
  names: readonly string[] | undefined,
  gone: readonly bigint[],
): Promise<Relation> {
  const ids = code(`SELECT unnest(CAST([${gone.join(', ')}] AS BIGINT[])) AS item_id`);
  const listing = bindModel('listing_items', { ...sources, gone_reads: ids }, { listing_datasets: names ?? null });
  const count = (await graph.count(sources.items)) + (await graph.count(sources.exported_items));
  return graph.rowsOf('listing_items', listing, count);
}

/**
 * Returns true if the items show that a poll with `changedSince` returns removed items.
 * @param since the poll's `changedSince`; undefined if the run has also read items without it
 */
export async function findEvidence(graph: RelationGraph, items: Relation, since: string | undefined): Promise<boolean> {
  const row = await graph.row(bindModel('listing_evidence', { listing_items: items }, { polled_since: since ?? null }));
  return row?.returned !== 0n || (row.hiding === 0n && row.moving !== 0n);
}

/** The counts of each website's items. `isSuspect` is true if the counts by other facets differ. */
export interface ListingCounts {
  sites: SiteCount[];
  isSuspect: boolean;
}

/** Compares a response of `/facets` with the items. @param readable the names of the readable datasets; default all */
export async function matchListing(
  graph: RelationGraph,
  items: Relation,
  answer: string,
  readable: readonly string[] | undefined,
): Promise<ListingCounts> {
  const compared = graph.model(
    'compare_facets',
    { counted_items: items, landed_facets: loadFacets(graph, answer) },
    { readable_datasets: readable ?? null },
  );
  const rows = await graph.rows(sql`SELECT CAST(c.id AS BIGINT) AS site, c.name, c.service, c.lake,
      coalesce(removed, 0) AS removed, coalesce(unread, 0) AS unread
    FROM ${compared} AS c
    LEFT JOIN (SELECT site_id, count(*) FILTER (NOT is_listed) AS removed, count(*) FILTER (NOT is_read) AS unread
      FROM ${items} GROUP BY site_id) AS l ON CAST(l.site_id AS VARCHAR) = c.id
    WHERE c.facet = 'site' AND c.id IS NOT NULL ORDER BY site`);
  const others = await graph.count(sql`FROM ${compared} WHERE facet <> 'site' AND service <> lake`);
  return { sites: rows as unknown as SiteCount[], isSuspect: others > 0n };
}

/** Counts the lake's items of each website. `service` gets the count of the lake, as if the service had returned it. */
export async function countLakeSites(graph: RelationGraph, items: Relation): Promise<SiteCount[]> {
  const rows =
    await graph.rows(sql`SELECT site_id AS site, '' AS name, count(*) FILTER (is_listed) AS lake, lake AS service,
      count(*) FILTER (NOT is_listed) AS removed, count(*) FILTER (NOT is_read) AS unread
    FROM ${items} WHERE site_id IS NOT NULL GROUP BY site_id ORDER BY site_id`);
  return rows as unknown as SiteCount[];
}

/** Counts the items that the run hasn't read. Without the service's counts, their listing states may be wrong. */
export function countUnread(graph: RelationGraph, items: Relation): Promise<bigint> {
  return graph.count(sql`FROM ${items} WHERE NOT is_read`);
}

export function countListedOf(graph: RelationGraph, items: Relation, ids: readonly bigint[]): Promise<bigint> {
  return graph.count(sql`FROM ${items} WHERE is_listed AND item_id IN (${code(ids.join(', ') || 'NULL')})`);
}

/** Finds the items that a complete read should have returned according to the lake, but didn't return. */
export async function findMissing(
  graph: RelationGraph,
  { items, typed }: ListingRows,
  { status, site }: Reading,
  files: readonly string[],
): Promise<bigint[]> {
  const ofSite = site === null ? sql`` : sql` AND site_id = ${site}`;
  const rows = await graph.rows(sql`SELECT item_id FROM ${items} WHERE is_listed = ${status === 'active'}${ofSite}
    AND item_id NOT IN (SELECT item_id FROM ${typed} WHERE list_contains(${code(quoteList([...files]))}, part))
    ORDER BY item_id`);
  return rows.map(({ item_id }) => item_id as bigint);
}

export async function countRead(graph: RelationGraph, typed: Relation, files: readonly string[]): Promise<bigint> {
  const row = await graph.row(sql`SELECT count(DISTINCT item_id) AS n FROM ${typed}
    WHERE list_contains(${code(quoteList([...files]))}, part)`);
  return row?.n as bigint;
}
