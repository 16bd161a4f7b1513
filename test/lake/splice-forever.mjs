/** Child process of the kill test: splices a large file again and again until it is killed, and says each version. */

import { realIo } from '../../dist/io/io.js';
import { commitTable } from '../../dist/lake/commit.js';
import { openLake } from '../../dist/lake/lake.js';
import { lockLake } from '../../dist/lake/lock.js';
import { readTable } from '../../dist/lake/read.js';
import { recoverLake } from '../../dist/lake/recover.js';
import { stageTable } from '../../dist/lake/stage.js';
import { beginSplices } from '../../dist/lake/stage-splices.js';
import { replaceRows } from '../../dist/lake/table-change.js';
import { TableRows } from '../../dist/lake/table-rows.js';
import { Database } from '../../dist/sql/connection.js';
import { RelationGraph } from '../../dist/sql/graph.js';
import { code } from '../../dist/sql/sql.js';
import { loadTableSchema } from '../../dist/tables/schemas.js';

const lake = await openLake(process.argv[2], { create: true });
await lockLake(lake, realIo);
await recoverLake(lake, realIo);
const db = await Database.open({ threads: 1 });
const graph = new RelationGraph(db);

/** Texts that no codec makes small, so that the file is large enough. */
const LONG = Array.from({ length: 8 }, (_, n) => `md5(CAST(i * 8 + ${n} AS VARCHAR))`).join(' || ');

function select(title, from) {
  const values = { item_id: 'i', site_id: '1', attributes: LONG, title: `'${title}'` };
  const columns = loadTableSchema('items').columns.map(
    ({ name, type }) => `CAST(${values[name] ?? 'NULL'} AS ${type}) AS ${name}`,
  );
  return `SELECT ${columns.join(', ')} FROM ${from}`;
}

async function replaceOne(state, next) {
  const before = await TableRows.open(graph, lake, state, 0n);
  const id = (next * 997n) % 20_000n;
  const gone = graph.table('gone', code(`SELECT ${id}::BIGINT AS item_id`));
  const added = code(select(next, `range(${id}, ${id + 1n}) AS r(i)`));
  const { splices, remove } = await replaceRows(graph, before, { key: 'item_id', gone, added, fillsSmall: true });
  for (const { rows } of splices.flatMap(({ groups }) => groups)) await graph.ready(rows);
  const { sealed } = await beginSplices(db, lake, { table: 'items', runId: 'r', metadata: {}, splices });
  return { add: await sealed, remove };
}

for (;;) {
  const state = await readTable(lake, 'items');
  const next = state.version + 1n;
  const first = { table: 'items', runId: 'r', partitionBy: [], select: select(next, 'range(20000) AS r(i)') };
  const files = next === 0n ? { add: await stageTable(db, lake, first), remove: [] } : await replaceOne(state, next);
  const change = { table: 'items', ...files, applied: { run: next } };
  console.log(String(await commitTable(lake, change, { runId: 'r', operation: 'TEST', at: realIo.now() })));
}
