import { join } from 'node:path';
import { CHANGE_KINDS } from '../../api/contract.js';
import type { FeedColumns } from './change-feed.js';
import type { World } from './world.js';
import type { WorldSession } from './world-database.js';

/** The first change id. It is above 2^53, so that a client that reads ids as doubles gets wrong ids. */
const FIRST_CHANGE_ID = 9_500_000_000_000_001n;
const SEGMENT = 200_000;

/** Assigns ids to pending changes, and adds them to the feed. Returns the number of changes, indexed by kind. */
export async function publishChanges(world: World, session: WorldSession, salt: number): Promise<number[]> {
  const { feed } = world;
  const nextId = feed.length === 0 ? FIRST_CHANGE_ID : feed.id(feed.length - 1) + 1n;
  await session.run(ORDER_PENDING, { nextId, salt });
  await session.run('DELETE FROM pending');
  return publishOrdered(world, session, selectChangeLines(PRESENT_ITEM));
}

/**
 * Adds the changes in the `ordered` table to the feed, and drops the table. Returns the number of changes, indexed by
 * kind.
 * @param selectLines query for the JSON of changes $from to below $to
 */
export async function publishOrdered(world: World, session: WorldSession, selectLines: string): Promise<number[]> {
  const { feed } = world;
  const kinds = [0, 0, 0, 0];
  for (const row of await session.rows('SELECT kind, count(*) AS changes FROM ordered GROUP BY kind')) {
    kinds[Number(row.kind)] = Number(row.changes);
  }
  const count = kinds.reduce((sum, kind) => sum + kind, 0);
  const path = join(world.directory, 'changes.part');
  for (let from = 0; from < count; from += SEGMENT) {
    const segment = { from, to: Math.min(count, from + SEGMENT) };
    await session.copyLines(selectLines, path, segment);
    const rows = Uint32Array.from({ length: segment.to - from }, (_, k) => feed.length + k);
    await feed.rows.append(path, rows);
    await session.eachChunk(SELECT_ENTRIES, segment, (chunk) => feed.append(chunk.getColumns() as FeedColumns));
  }
  await session.run('DROP TABLE ordered');
  return kinds;
}

/** Selects the columns that `ChangeFeed.append` expects. */
const SELECT_ENTRIES = `SELECT change_id, epoch_us(observed_at), n, mask, kind, move FROM ordered
  WHERE c >= $from::BIGINT AND c < $to::BIGINT ORDER BY c`;

/** The names of the kinds as a DuckDB list, indexed by their numbers. */
export const KINDS = `[${CHANGE_KINDS.map((kind) => `'${kind}'`).join(', ')}]`;

/**
 * Builds a query for the changes $from to below $to as JSON (API §2, Change), ordered by id. The item is the last
 * field, so that removing it yields a HistoryEntry.
 * @param item SQL for the item's JSON, from `ordered` o and `items` i
 */
export function selectChangeLines(item: string): string {
  return `
SELECT concat('{"id":', o.change_id, ',"kind":"', (${KINDS})[1 + o.kind],
  '","observedAt":', json_time(o.observed_at), ',"price":', json_money(o.price), ',"previousPrice":', json_money(o.previous_price),
  ',"changes":', o.changes, ',"item":', ${item}, '}')
FROM (SELECT * FROM ordered WHERE c >= $from::BIGINT AND c < $to::BIGINT) o LEFT JOIN items i ON i.n = o.n
ORDER BY o.c
`;
}

/** An SQL expression for the ChangeItem of an item in its current state. */
const PRESENT_ITEM = `CASE WHEN i.n IS NULL THEN 'null' ELSE concat('{"id":', i.item_id, ',"title":', json_text(feed_title(i.title)),
  ',"url":', json_text(i.url), ',"currency":', json_text(i.currency), ',"site":', i.site_json, '}') END`;

/** Assigns ids in the order in which the changes happened. */
const ORDER_PENDING = `
CREATE OR REPLACE TABLE ordered AS
SELECT c, $nextId::BIGINT + c * 2 + (draw(c, $salt::BIGINT, 91) % 2)::BIGINT AS change_id, n, kind, observed_at, price, previous_price, changes, mask,
  CASE WHEN price < previous_price THEN -1 WHEN price > previous_price THEN 1 ELSE 0 END::TINYINT AS move
FROM (SELECT *, row_number() OVER (ORDER BY observed_at, n, kind) - 1 AS c FROM pending) ORDER BY c;
`;
