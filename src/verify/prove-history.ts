import { readFileSync } from 'node:fs';
import { BIGINT } from '@duckdb/node-api';
import { packagePath } from '../io/package-path.js';
import type { Proof } from './proof.js';
import { readApplied } from './read-applied.js';
import { createReplayedViews } from './table-views.js';

export const historyProof: Proof = {
  name: 'history',
  claims: 'Each item matches the last change that was applied to it, and no change of history was left out.',
  async prove(context, report) {
    await createReplayedViews(context, ['items', 'history', 'rejects', 'runs']);
    await context.db.run(readFileSync(packagePath('pipelines/models/macros.sql'), 'utf8'));
    const sql = readFileSync(packagePath('pipelines/proofs/items_follow_history.sql'), 'utf8');
    const cursor = readApplied(context.tables.get('items')).cursor ?? 0n;
    const result = await context.db.connection.stream(sql, { cursor }, { cursor: BIGINT });
    for (let chunk = await result.fetchChunk(); chunk && chunk.rowCount > 0; chunk = await result.fetchChunk()) {
      context.signal.throwIfAborted();
      for (let i = 0; i < chunk.rowCount; i += 1) {
        const [itemId, fault] = chunk.getRowValues(i);
        report({ table: 'items', what: `item ${itemId}: ${fault}` });
      }
    }
    const row = await context.db.row('SELECT count(*) AS n FROM items WHERE change_id IS NOT NULL');
    return { count: row?.n as bigint, of: 'items with a change' };
  },
};
