import type { RunState } from '../../journal/run-state.js';
import type { LakeRows } from '../../lake/table-rows.js';
import { readChangeId } from '../../source/page.js';
import type { RelationGraph } from '../../sql/graph.js';
import { sql } from '../../sql/sql.js';
import type { FeedOverlap } from '../../tables/cursor-window.js';
import type { DataFile } from '../../tables/table.js';
import type { FoundLake } from '../open/run-parts.js';

/** The maximum number of known changes to read again. It is half a feed page, which leaves room for new changes. */
const MOST_AGAIN = 500;

interface OverlapSource extends Pick<FoundLake, 'pipeline' | 'before' | 'tables'> {
  graph: RelationGraph;
  journal: { readonly state: RunState };
}

/**
 * Chooses how far before the cursor the feed is read again, because changes may become visible late. Goes back a few
 * minutes (`source.feedOverlap`) from the newest change. A resumed run uses the choice of its first attempt. Reads only
 * the files of history that contain the newest changes.
 */
export async function readOverlap(source: OverlapSource, cursor: bigint | undefined): Promise<FeedOverlap | undefined> {
  const { pipeline, journal } = source;
  const { decision } = journal.state;
  if (cursor === undefined) return undefined;
  if (decision !== undefined) {
    const { overlap: after } = decision;
    return after === undefined
      ? undefined
      : { after, known: new Set((await readNewest(source, cursor, after)).keys()) };
  }
  const { feedOverlap } = pipeline.source;
  if (feedOverlap === 0) return undefined;
  const newest = await readNewest(source, cursor);
  const [end] = newest.values();
  if (end === undefined) return undefined;
  const ids = [...newest.keys()];
  const oldest = [...newest.values()].findLastIndex((at) => at > end - BigInt(feedOverlap) * 1000n);
  // Continues from the change before the oldest recent one, because late changes may be between the two.
  const after = ids[oldest + 1] ?? ids[oldest] ?? cursor;
  return { after, known: new Set(ids.filter((id) => id > after)) };
}

/** Reads the newest changes in history up to the cursor, newest first. Returns their times in µs, keyed by id. */
async function readNewest(
  { graph, before, tables }: OverlapSource,
  cursor: bigint,
  after?: bigint,
): Promise<Map<bigint, bigint>> {
  const files = chooseFiles(tables.history.files, cursor, after);
  const history = await before.part('history', files);
  const rows = await graph.rows(sql`SELECT change_id, epoch_us(observed_at) AS at FROM ${history.rows}
    WHERE change_id <= ${cursor} AND change_id > ${after ?? -(2n ** 63n)}
    ORDER BY change_id DESC LIMIT ${MOST_AGAIN}`);
  return new Map(rows.map(({ change_id, at }) => [change_id as bigint, at as bigint]));
}

/** Chooses the files with the changes from `after` to the cursor. Without `after`, chooses the newest files. */
function chooseFiles(files: readonly DataFile[], cursor: bigint, after: bigint | undefined): DataFile[] {
  // JSON.parse rounds ids in statistics. Rounding never reverses their order, so `<=` and `>=` miss no file.
  const end = Number(cursor);
  const bounds = files.map(readBounds).filter(({ first, rows }) => rows > 0n && first <= end);
  const start = after === undefined ? findStart(bounds, end) : Number(after);
  return bounds.filter(({ last }) => last >= start).map(({ file }) => file);
}

/** Finds an id with at least MOST_AGAIN changes between it and `end`, so that older files needn't be read. */
function findStart(bounds: readonly FileBounds[], end: number): number {
  let rows = 0n;
  let start = end;
  // Skips files that also contain changes beyond the cursor, because they may have few changes before the cursor.
  const isBefore = ({ last }: FileBounds) => last < end || (last === end && Number.isSafeInteger(end));
  for (const one of bounds.filter(isBefore).sort((a, b) => b.last - a.last)) {
    if (rows >= MOST_AGAIN) return start;
    start = Math.min(start, one.first);
    rows += one.rows;
  }
  return rows >= MOST_AGAIN ? start : -Infinity;
}

/** A file's smallest and largest change id (infinite without statistics), and its number of rows with an id. */
interface FileBounds {
  file: DataFile;
  first: number;
  last: number;
  rows: bigint;
}

function readBounds(file: DataFile): FileBounds {
  const { minValues, maxValues, nullCount } = (file.stats === '' ? {} : JSON.parse(file.stats)) as {
    [figure in 'minValues' | 'maxValues' | 'nullCount']?: { change_id?: number };
  };
  const rows = file.rows - BigInt(nullCount?.change_id ?? 0);
  return { file, first: minValues?.change_id ?? -Infinity, last: maxValues?.change_id ?? Infinity, rows };
}

/** Returns the ids of changes that earlier runs rejected. Searches their raw text, which may be invalid JSON. */
export async function findRejectedChanges(
  graph: RelationGraph,
  before: LakeRows,
  ids: readonly bigint[],
): Promise<ReadonlySet<bigint>> {
  const rows = await graph.rows(sql`SELECT DISTINCT raw FROM ${await before.rows('rejects')}
    WHERE table_name = 'history' AND regexp_matches(raw, ${ids.join('|')})`);
  const rejected = rows.map(({ raw }) => readRawId(String(raw)));
  return new Set(ids.filter((id) => rejected.includes(id)));
}

/** Reads the change id in the raw text of a row, or returns undefined if the id is unreadable. */
function readRawId(raw: string): bigint | undefined {
  try {
    return readChangeId(Buffer.from(raw), { start: 0 });
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}
