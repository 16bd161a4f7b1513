import path from 'node:path';
import type { ComparedElsewhere } from '../../apply/compare-rows.js';
import type { FeedSkew } from '../../apply/feed-skew.js';
import type { MergeBase } from '../../apply/merge.js';
import type { ItemReads } from '../../apply/typed-rows.js';
import { settleAll } from '../../io/side-by-side.js';
import { countRows } from '../../lake/slices.js';
import { bindModel, readModel } from '../../sql/model.js';
import { type Sql, sql } from '../../sql/sql.js';
import {
  countParts,
  type Division,
  divideRows,
  divideSources,
  divideTable,
  filesOf,
  readParts,
  WORKER_ROWS,
} from '../derive/divide.js';
import { type PartFile, ROWS } from '../derive/part-task.js';
import type { Run } from '../open/open-run.js';

/** The parts that come back: items that differ, and those that the copy lacks. */
const [DIFFERENT, ABSENT] = [0, 1];

/**
 * Compares a complete copy with the lake in workers, each some of the items; undefined if these are not worth the way.
 * The rows of both are divided by item first.
 */
export async function compareElsewhere(
  { graph, elsewhere, workFolder }: Run,
  base: MergeBase,
  exported: ItemReads,
  skew: FeedSkew,
): Promise<ComparedElsewhere | undefined> {
  const { inPieces, tally } = exported;
  if (elsewhere === undefined || inPieces === undefined || base.kind !== 'reload') return undefined;
  const { before } = base;
  const all = tally.typed + countRows(before.files);
  if (!elsewhere.workers.pays(all)) return undefined;
  const count = countParts(all);
  const divide = (name: string): Division => ({
    ...{ key: 'item_id', count, queries: [readModel('compare'), 'gone_at'] },
    folder: path.join(workFolder, 'compared', name),
  });
  const [whole, stored] = await settleAll([
    divideSources(graph, elsewhere, { table: 'items', sources: inPieces(WORKER_ROWS) }, divide('exported')),
    divideTable(graph, elsewhere, before, divide('items')),
  ]);
  const none = graph.empty('no_items', 'items');
  const pieces = Array.from({ length: count }, (_, part) => {
    const read = (files: readonly PartFile[]): Sql => {
      const own = filesOf(files, part);
      return own.length === 0 ? sql`FROM ${none}` : readParts(own);
    };
    const [exported_items, items] = [read(whole), read(stored)];
    const different = bindModel('compare', { exported_items, items }, { feed_skew: skew.us });
    return {
      select: sql`SELECT item_id, is_new, differences, ${DIFFERENT} AS part FROM (${different})
        UNION ALL SELECT item_id, false, NULL, ${ABSENT}
        FROM (${items}) ANTI JOIN (${exported_items}) USING (item_id) WHERE gone_at IS NULL`,
    };
  });
  const found = await divideRows(elsewhere, pieces, path.join(workFolder, 'compared', 'found'), ROWS);
  const read = (label: string, part: number) => {
    const own = filesOf(found, part);
    return own.length === 0 ? undefined : graph.rowsOf(label, readParts(own), countRows(own));
  };
  return { different: read('compare', DIFFERENT), absent: read('absent_items', ABSENT) };
}
