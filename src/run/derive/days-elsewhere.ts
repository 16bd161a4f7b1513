import path from 'node:path';
import {
  type DayRange,
  PART_RUNS,
  readOfferPrices,
  selectOfferPrices,
  selectSpreads,
} from '../../analyze/daily-spread.js';
import { settleAll } from '../../io/side-by-side.js';
import { countRows, groupBySize } from '../../lake/slices.js';
import type { TableRows } from '../../lake/table-rows.js';
import type { RelationGraph } from '../../sql/graph.js';
import type { Relation } from '../../sql/relation.js';
import { type Sql, sql } from '../../sql/sql.js';
import { countParts, type Division, divideRows, divideTable, type Elsewhere, filesOf, readParts } from './divide.js';
import type { PartFile } from './part-task.js';

/** The tables that days follow from, as the lake would have them. */
export interface DayTables {
  items: TableRows;
  history: TableRows;
  sites: Relation;
}

/**
 * Selects rows of price_spread_daily in parts of the products that workers have made. They divide items and history by item,
 * compute from each part what its offers cost, and divide that by product.
 */
export async function selectDaysElsewhere(
  graph: RelationGraph,
  elsewhere: Elsewhere,
  { items, history, sites }: DayTables,
  { folder, runId, ...days }: DayRange & { folder: string; runId: string },
): Promise<Sql[]> {
  const rows = countRows(items.files) + countRows(history.files);
  const count = countParts(rows);
  const numbers = Array.from({ length: count }, (_, part) => part);
  const divide = (table: TableRows) => {
    const own = path.join(folder, table.table);
    const division: Division = { key: 'item_id', count, queries: [readOfferPrices()], folder: own };
    return divideTable(graph, elsewhere, table, division);
  };
  const none = graph.empty('no_history', 'history');
  const [offers, changes] = await settleAll([divide(items), divide(history)]);
  const pieces = numbers.flatMap((part) => {
    const own = filesOf(offers, part);
    if (own.length === 0) return [];
    const told = filesOf(changes, part);
    const past = told.length === 0 ? sql`FROM ${none}` : readParts(told);
    const prices = selectOfferPrices({ items: readParts(own), history: past }, days);
    return [{ select: sql`SELECT *, hash(product_id) % ${count} AS part FROM (${prices})` }];
  });
  const prices = await divideRows(elsewhere, pieces, path.join(folder, 'offer_prices'));
  return groupBySize(listParts(prices, numbers), PART_RUNS).map((group) =>
    selectSpreads(readParts(group.flatMap(({ files }) => files)), sites, { ...days, runId }),
  );
}

/** The files of each part that has rows, and how many rows these are. */
function listParts(files: readonly PartFile[], numbers: readonly number[]) {
  return numbers
    .map((part) => filesOf(files, part))
    .filter((own) => own.length > 0)
    .map((own) => ({ files: own, rows: countRows(own) }));
}
