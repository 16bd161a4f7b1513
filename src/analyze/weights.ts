import { PricelakeError } from '../io/errors.js';
import type { Database } from '../sql/connection.js';
import { loadUserTable } from './user-table.js';

/** The columns of a weights file, of which one identifies what is weighted. That column becomes the variable `by`. */
export const WEIGHT_UNITS = ['category', 'shop', 'product', 'brand', 'item', 'region', 'dataset'] as const;
export type WeightUnit = (typeof WEIGHT_UNITS)[number];

const HINT = `A weights file is CSV with a header: ${WEIGHT_UNITS.join(', ')} (one of these), weight, and optionally period; for example category,weight.`;

/**
 * Loads the user's weights as the `weights` table (kind, unit, period, weight). Returns the kind of thing that the
 * weights apply to, such as `category`. A line without a period applies to all periods.
 * @throws PricelakeError `config` with the file and line of the first invalid weight
 */
export async function loadWeights(db: Database, file: string): Promise<WeightUnit> {
  await loadUserTable(db, {
    ...{ file, name: 'weight_lines', rows: 'weights', columns: ['weight'], optional: ['period', ...WEIGHT_UNITS] },
    fault: `CASE
      WHEN len(list_filter([${WEIGHT_UNITS.join(', ')}], lambda one: one IS NOT NULL)) <> 1
        THEN 'each line must have exactly one of ${WEIGHT_UNITS.join(', ')}'
      WHEN coalesce(TRY_CAST(weight AS DECIMAL(28, 10)), -1) < 0
        THEN 'weight "' || coalesce(weight, '') || '" is not a number of 0 or more'
      WHEN period IS NOT NULL AND TRY_CAST(period AS DATE) IS NULL
        THEN 'period "' || period || '" is not a day such as 2026-11-01'
      WHEN count(*) OVER (PARTITION BY coalesce(${WEIGHT_UNITS.join(', ')}), TRY_CAST(period AS DATE)) > 1
        THEN coalesce(${WEIGHT_UNITS.join(', ')}) || ' has two weights' || coalesce(' for ' || period, '')
    END`,
    select: `CASE ${WEIGHT_UNITS.map((unit) => `WHEN ${unit} IS NOT NULL THEN '${unit}'`).join(' ')} END AS kind,
      coalesce(${WEIGHT_UNITS.join(', ')}) AS unit, period::DATE AS period, weight::DECIMAL(28, 10) AS weight`,
    hint: HINT,
  });
  const kinds = await db.rows('SELECT DISTINCT kind FROM weight_lines');
  if (kinds.length !== 1) {
    const what = kinds.length === 0 ? 'the file has no weights' : 'all lines must have the same kind of weight';
    throw new PricelakeError('config', `${file}: ${what}`, { hint: HINT });
  }
  await db.run('ALTER TABLE weight_lines RENAME TO weights');
  return kinds[0]?.kind as WeightUnit;
}

/**
 * Loads the user's tree as the `tree` table (child, parent). The tree groups the weighted units, and groups of units.
 * @throws PricelakeError `config` with the file and line of the first invalid node, such as one with two parents or in
 * a cycle
 */
export async function loadTree(db: Database, file: string | undefined): Promise<void> {
  if (file === undefined) {
    await db.run('CREATE OR REPLACE TABLE tree (child VARCHAR, parent VARCHAR)');
    return;
  }
  const hint = 'A tree file is CSV with a header: child,parent; for example hot-drinks-tea,01.2.1 and 01.2.1,01.2.';
  await loadUserTable(db, {
    ...{ file, name: 'tree', rows: 'the tree', columns: ['child', 'parent'] },
    fault: `CASE
      WHEN child IS NULL OR parent IS NULL THEN 'a line needs both a child and a parent'
      WHEN child = parent THEN child || ' is its own parent'
      WHEN count(*) OVER (PARTITION BY child) > 1 THEN child || ' has two parents'
    END`,
    ...{ select: 'child, parent', hint },
  });
  const circle = await db.row(`WITH RECURSIVE up AS (
    SELECT child, parent, 1 AS steps FROM tree
    UNION ALL
    SELECT up.child, tree.parent, steps + 1 FROM up JOIN tree ON tree.child = up.parent WHERE up.child <> up.parent AND steps < 100
  ) SELECT child FROM up WHERE child = parent OR steps = 100 ORDER BY 1 LIMIT 1`);
  if (circle === undefined) return;
  throw new PricelakeError(
    'config',
    `${file}: ${circle.child} is its own ancestor, or is nested more than 99 levels deep`,
    { hint },
  );
}
