import { readFileSync } from 'node:fs';
import { BIGINT } from '@duckdb/node-api';
import { packagePath } from '../io/package-path.js';
import { quoteIdentifier } from '../sql/quote.js';
import { holdRows } from '../sql/streamed-result.js';
import { createReplayedViews, type Proof, type Report, readApplied, type VerifyContext } from './proof.js';

export const cursorProof: Proof = {
  name: 'cursors',
  claims: "Each run continued from the cursor of the run before it; items and history are at the last run's cursor.",
  async prove(context, report) {
    await createReplayedViews(context, ['runs', 'history']);
    const rows = await context.db.rows(
      'SELECT run_number, run_id, cursor_from, cursor_to, written FROM runs ORDER BY run_number',
    );
    /** The cursors from which the next run may start. A run that writes nothing may or may not advance the cursor. */
    let cursors: (bigint | null)[] = [null];
    let number: bigint | undefined;
    for (const row of rows) {
      const { run_number, run_id, cursor_from, cursor_to, written } = row as Record<string, bigint | null>;
      const fail = (what: string) => report({ table: 'runs', what: `run ${run_id} ${what}` });
      if (run_number === number) fail(`has number ${number}, as the run before it does`);
      if (!cursors.includes(cursor_from ?? null)) {
        fail(`continued from cursor ${cursor_from}; the run before it had reached ${cursors.at(-1)}`);
      }
      if (cursor_from != null && cursor_to != null && cursor_to < cursor_from)
        fail(`ended at cursor ${cursor_to}, but it continued from cursor ${cursor_from}`);
      cursors = written === 0n ? [...cursors, cursor_to ?? null] : [cursor_to ?? null];
      number = run_number ?? undefined;
    }
    await compareTables(context, cursors, report);
    return { count: BigInt(rows.length), of: 'runs' };
  },
};

async function compareTables({ db, tables }: VerifyContext, cursors: (bigint | null)[], report: Report): Promise<void> {
  for (const table of ['history', 'items'] as const) {
    const at = readApplied(tables.get(table)).cursor ?? null;
    if (tables.has(table) && !cursors.includes(at)) {
      report({
        table,
        what: `is at cursor ${at}, but the last run reached ${cursors.at(-1)}. If that run was interrupted, a sync finishes it`,
      });
    }
  }
  const newest = await db.row("SELECT max(change_id) AS id FROM history WHERE origin = 'feed'");
  const id = newest?.id as bigint | null;
  const { cursor, ahead = 0n } = readApplied(tables.get('history'));
  if (id !== null && cursor !== undefined && id > cursor && id > ahead)
    report({ table: 'history', what: `contains change ${id}, but its log records no change beyond cursor ${cursor}` });
}

export const equationProof: Proof = {
  name: 'row equation',
  claims: 'In every run, rows received = rows written + rejected + deduplicated; rejected rows are in rejects.',
  async prove(context, report) {
    await createReplayedViews(context, ['runs', 'rejects']);
    const rows = await context.db.rows(`
      SELECT run_id, received, written, rejected, deduplicated, coalesce(r.kept, 0) AS kept,
        export_rows, export_rows_landed
      FROM runs LEFT JOIN (SELECT run_id, count(*) AS kept FROM rejects GROUP BY run_id) AS r USING (run_id)
      ORDER BY run_number`);
    for (const row of rows) {
      const fail = (what: string) => report({ table: 'runs', what: `run ${row.run_id} ${what}` });
      const { received, written, rejected, deduplicated, kept } = row as Record<string, bigint>;
      if (received !== (written ?? 0n) + (rejected ?? 0n) + (deduplicated ?? 0n)) {
        fail(`received ${received} rows, but ${written} written + ${rejected} rejected + ${deduplicated} deduplicated`);
      }
      if (rejected !== kept) fail(`rejected ${rejected} rows, but the rejects table has ${kept}`);
      // This column is null for runs by older versions of pricelake.
      if (row.export_rows_landed !== null && row.export_rows !== row.export_rows_landed) {
        fail(`expected ${row.export_rows} export rows, but ${row.export_rows_landed} landed`);
      }
    }
    return { count: BigInt(rows.length), of: 'runs' };
  },
};

const SHOWN_KEYS = 20;

export const keyProof: Proof = {
  name: 'keys',
  claims: 'No table has a key twice.',
  async prove(context, report) {
    let count = 0n;
    for (const { table, schema } of context.tables.values()) {
      context.signal.throwIfAborted();
      await createReplayedViews(context, [table]);
      const key = schema.key.map(quoteIdentifier);
      // Skips rows whose key contains null. For example, differences in history have no change id.
      const whole = key.map((name) => `${name} IS NOT NULL`).join(' AND ');
      const rows = await context.db.rows(
        `SELECT ${key.map((name) => `CAST(${name} AS VARCHAR)`).join(` || ' ' || `)} AS key, count(*) AS copies
         FROM ${quoteIdentifier(table)} WHERE ${whole} GROUP BY ${key.join(', ')} HAVING copies > 1 LIMIT ${SHOWN_KEYS}`,
      );
      for (const row of rows) report({ table, what: `has ${schema.key.join(', ')} ${row.key} ${row.copies} times` });
      count += 1n;
    }
    return { count, of: 'tables' };
  },
};

export const historyProof: Proof = {
  name: 'history',
  claims: 'Each item matches the last change applied to it, and no change in history was left out.',
  async prove(context, report) {
    await createReplayedViews(context, ['items', 'history', 'rejects', 'runs']);
    await context.db.run(readFileSync(packagePath('pipelines/models/macros.sql'), 'utf8'));
    const sql = readFileSync(packagePath('pipelines/proofs/items_follow_history.sql'), 'utf8');
    const cursor = readApplied(context.tables.get('items')).cursor ?? 0n;
    const source = { from: `(${sql}\n)`, values: { cursor }, types: { cursor: BIGINT } };
    await context.db.withSession(async (connection) => {
      // Stores all rows before reporting them. A retry after running out of memory could report rows twice.
      const faults = await holdRows(connection, source, Number.MAX_SAFE_INTEGER);
      for await (const chunk of faults.chunks()) {
        context.signal.throwIfAborted();
        for (let i = 0; i < chunk.rowCount; i += 1) {
          const [itemId, fault] = chunk.getRowValues(i);
          report({ table: 'items', what: `item ${itemId}: ${fault}` });
        }
      }
    });
    const row = await context.db.row('SELECT count(*) AS n FROM items WHERE change_id IS NOT NULL');
    return { count: row?.n as bigint, of: 'items with a change' };
  },
};
