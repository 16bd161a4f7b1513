import { replaceAll } from '../../lake/table-change.js';
import type { StagedTable, Staging } from '../../run/open/stage.js';
import { columnsOf, sql } from '../../sql/sql.js';
import { DECLARED_TABLES } from '../../tables/table.js';
import type { Wing } from '../wing.js';
import { listDeclared } from './declared-rows.js';

/** Stages the tables that contain settings from the pipeline file, if these settings have changed. */
function stageDeclared(staging: Staging): Promise<StagedTable[]> {
  const { found, graph, runId } = staging;
  return Promise.all(
    listDeclared(found).map(({ table, rows, declared }) => {
      const made = rows.map((row) => ({ ...row, run_id: runId }));
      const select = sql`SELECT ${columnsOf(table)} FROM ${graph.load(`declared_${table}`, table, made)}`;
      return staging.stage(table, replaceAll(found.tables[table], select), { declared });
    }),
  );
}

/** Writes settings from the pipeline file to tables. These are rules about offers, and the user's matches. */
export const settings: Wing = {
  derivers: [{ tables: DECLARED_TABLES, isDue: (found) => listDeclared(found).length > 0, derive: stageDeclared }],
};
