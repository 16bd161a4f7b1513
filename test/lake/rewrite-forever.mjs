/** Child process of the kill test: rewrites one partition after the other until it is killed, and says each version. */

import { realIo } from '../../dist/io/real-io.js';
import { commitTable } from '../../dist/lake/commit.js';
import { openLake } from '../../dist/lake/lake.js';
import { lockLake } from '../../dist/lake/lock.js';
import { readTable } from '../../dist/lake/read.js';
import { recoverLake } from '../../dist/lake/recover.js';
import { stageTable } from '../../dist/lake/stage.js';
import { Database } from '../../dist/sql/connection.js';
import { loadTableSchema } from '../../dist/tables/schemas.js';

const lake = await openLake(process.argv[2], { create: true });
await lockLake(lake, realIo);
await recoverLake(lake, realIo);
const db = await Database.open({ threads: 1 });
for (;;) {
  const { version, files } = await readTable(lake, 'items');
  const next = version + 1n;
  const site = String(next % 3n);
  const values = { item_id: 'i', site_id: 'i % 3', title: `'${next}'` };
  const columns = loadTableSchema('items').columns.map(
    ({ name, type }) => `CAST(${values[name] ?? 'NULL'} AS ${type}) AS ${name}`,
  );
  const where = next === 0n ? 'true' : `i % 3 = ${site}`;
  const select = `SELECT ${columns.join(', ')} FROM range(300) AS r(i) WHERE ${where}`;
  const add = await stageTable(db, lake, { table: 'items', runId: 'r', select });
  const remove = files.filter((file) => file.partitionValues.site_id === site);
  const change = { table: 'items', add, remove, applied: { run: next } };
  console.log(String(await commitTable(lake, change, { runId: 'r', operation: 'TEST', at: realIo.now() })));
}
