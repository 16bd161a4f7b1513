import { selectChanges } from '../../deliver/select-changes.js';
import type { Arguments, CommandContext } from '../command.js';
import type { deliverChanges } from '../commands/deliver.js';
import { findTarget } from '../find-target.js';
import { readStatement } from '../output/result-set.js';
import { findDestination, requireDestination, writeResult } from '../output/write-result.js';
import { readCredits, readLake } from '../read-lake.js';

/**
 * Shows the rows of a table that have changed since a run.
 * @throws PricelakeError `usage` if the lake's history doesn't reach back to that run
 */
export async function showChanges(request: Arguments<typeof deliverChanges>, context: CommandContext) {
  const { table, since } = request;
  await requireDestination(request, context);
  const { lake: path } = await findTarget(request);
  return readLake({ path, ...context }, async ({ db, lake, scratch }) => {
    const credits = await readCredits(db);
    const { select, from, to, runs } = await selectChanges(lake, table, since);
    const statement = await db.connection.prepare(select);
    const rows = `(${select})`;
    const result = await readStatement(
      { connection: db.connection, statement, from: rows },
      findDestination(request, context),
    );
    const relation = { db, from: rows, scratch };
    const facts = { table, versions: { from, to }, runs };
    return writeResult({ ...result, credits, relation, facts }, request, context);
  });
}
