import * as z from 'zod';
import { type Check, findReadTables, PARAMETER_TYPES } from '../../check/check.js';
import { type BoundCheck, bindCheck, countBound, type Violations } from '../../check/count-rows.js';
import type { CountElsewhere } from '../../check/run.js';
import { PricelakeError } from '../../io/errors.js';
import type { Database } from '../../sql/connection.js';
import { sqlOf } from '../../sql/shipment.js';
import type { Sql } from '../../sql/sql.js';
import type { TableName } from '../../tables/table.js';
import { int64, type TaskKind } from '../../workers/workers.js';
import type { Elsewhere } from '../derive/divide.js';

interface CheckTask extends BoundCheck {
  /** Statements that make the relations of the select. */
  views: Sql[];
  select: Sql;
}

const value = z.union([z.string(), z.number()]);
const parameter = z.strictObject({
  name: z.string(),
  type: z.enum(PARAMETER_TYPES),
  default: value,
  meaning: z.string(),
});

/** The count of a check by a worker; a fault is why its SQL does not run there. */
export const CHECK: TaskKind<CheckTask, Violations | { fault: string }> = {
  name: 'check',
  input: (paths) =>
    z.strictObject({
      views: z.array(sqlOf(paths)),
      select: sqlOf(paths),
      check: z.strictObject({ parameters: z.array(parameter), file: z.string() }),
      values: z.record(z.string(), value),
    }),
  output: () =>
    z.union([
      z.strictObject({ violations: int64, rows: z.array(z.string()), seconds: z.number() }),
      z.strictObject({ fault: z.string() }),
    ]),
};

/** Does a task of this kind: in a worker. */
export async function countCheck(
  db: Database,
  { views, select, ...check }: CheckTask,
): Promise<Violations | { fault: string }> {
  for (const { text } of views) await db.run(text);
  try {
    return await countBound(db, select.text, check);
  } catch (error) {
    if (error instanceof PricelakeError && error.code !== 'config') throw error;
    // Also files of the user, which only the run's machine may have. There, the check runs or says why it doesn't.
    return { fault: error instanceof Error ? error.message : String(error) };
  }
}

/** Has workers count the checks that read many rows. @param rows the rows of each table */
export function countChecksElsewhere(
  { workers, ship }: Elsewhere,
  rows: ReadonlyMap<TableName, bigint>,
): CountElsewhere {
  const countRead = ({ sql }: Check) => findReadTables(sql).reduce((sum, name) => sum + (rows.get(name) ?? 0n), 0n);
  return {
    takes: (check) => workers.pays(countRead(check)),
    async count({ check, values }, checked) {
      const bound = bindCheck(check.sql, checked);
      const { parameters, file } = check;
      const task = { views: await ship(bound), select: bound, check: { parameters, file }, values };
      const counted = await workers.do(CHECK, task, async () => undefined);
      return 'fault' in counted ? undefined : counted;
    },
  };
}
