/** Applies many changes in workers, each to some of the items: the same models, over the rows of these items. */

import path from 'node:path';
import {
  BASE_PIECE_COLUMNS,
  type BaseRows,
  type MergeBase,
  selectBasePieces,
  type TouchedItems,
} from '../../apply/merge.js';
import type { ItemReads } from '../../apply/typed-rows.js';
import { groupBySize } from '../../lake/slices.js';
import type { RelationGraph } from '../../sql/graph.js';
import { asRows } from '../../sql/model.js';
import type { Relation } from '../../sql/relation.js';
import { code, columnsOf, sql } from '../../sql/sql.js';
import { writeEmptySelect } from '../../sql/table-relation.js';
import { countParts, WORKER_ROWS } from '../derive/divide.js';
import type { Run } from '../open/open-run.js';
import { type ApplySteps, stepsHere } from './apply-steps.js';
import { DividedRows, type Read } from './divided-rows.js';
import { ItemParts } from './item-parts.js';
import { partsHere, stepsInParts } from './steps-in-parts.js';

/** Memory that a change takes while it is applied: with more of them, items are worked on part by part. */
const BYTES_OF_CHANGE = 400;

/** In workers if there are enough changes and whole rows for a cluster to pay, else here. */
export async function chooseSteps(
  { graph, elsewhere, workFolder, memoryLimit }: Run,
  { pending, exported, different }: { pending: Relation; exported: ItemReads; different: Relation },
): Promise<ApplySteps> {
  const changed = (await graph.count(pending)) + (await graph.count(different));
  const folder = path.join(workFolder, 'applied');
  if (elsewhere?.workers.pays(changed + exported.tally.typed) === true) {
    const parts = new ItemParts(graph, elsewhere, new DividedRows(graph, { folder, count: countParts(changed) }));
    const readBase: ApplySteps['readBase'] = (...rows) => readBaseElsewhere(graph, parts, ...rows);
    return { ...stepsInParts(graph, parts), readBase };
  }
  const here = stepsHere(graph);
  const count = Math.ceil((Number(changed) * BYTES_OF_CHANGE) / memoryLimit);
  if (count < 2) return here;
  return { ...here, ...stepsInParts(graph, partsHere(graph, new DividedRows(graph, { folder, count }))) };
}

async function readBaseElsewhere(
  graph: RelationGraph,
  parts: ItemParts,
  base: MergeBase,
  touched: TouchedItems,
  { rows: all, inPieces }: ItemReads,
): Promise<BaseRows> {
  const selects = selectBasePieces(graph, base, touched, {
    exported: () => inPieces?.(WORKER_ROWS) ?? [sql`${all}`],
    stored: (files) => groupBySize(files, WORKER_ROWS),
  });
  const pieces = selects.map((select) => ({ select, count: () => graph.count(select) }));
  const found = await parts.find('base_rows', pieces, code(writeEmptySelect(BASE_PIECE_COLUMNS)));
  const select = (read: Read) => sql`SELECT ${columnsOf('items')} FROM ${read(found)}`;
  const rows = graph.view('base_items', select(asRows));
  parts.follow(rows, [found], select);
  if (base.kind === 'first') return { rows, all };
  if (base.kind !== 'lake') return { rows };
  return { rows, places: graph.view('base_places', sql`SELECT item_id, place AS filename FROM ${found}`) };
}
