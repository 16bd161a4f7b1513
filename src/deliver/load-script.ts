import type { TableLoad } from './load-plan.js';
import { type LoadTarget, writeApply, writeCreate, writeLoadsTable } from './load-sql.js';
import type { Warehouse } from './warehouse-names.js';
import { WAREHOUSE_FORMS } from './warehouses.js';

/**
 * The statements that bring a warehouse's copy to the newest run: tables as far as they are missing, staging tables, then
 * one transaction over all tables that records the run last. Run again, or over a copy of another run, they change
 * nothing.
 * @param base address of the lake for the warehouse, checked
 */
export function writeLoadScript(
  warehouse: Warehouse,
  loads: readonly TableLoad[],
  { schema, base }: { schema: string | undefined; base: string },
): string[] {
  const form = WAREHOUSE_FORMS[warehouse];
  const target: LoadTarget = { ...form, schema };
  const filled = loads.filter(({ rows }) => rows.kind !== 'none');
  return [
    writeLoadsTable(target),
    ...loads.flatMap((load) => writeCreate(target, load)),
    ...filled.flatMap((load) => form.stage(target, load, base)),
    ...form.begin,
    ...loads.flatMap((load) => writeApply(target, load, form.stageName(target, load.table))),
    ...form.commit,
    ...filled.flatMap(({ table }) => form.clean(target, table)),
  ];
}
