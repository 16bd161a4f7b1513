import { Database } from '../../src/duckdb/connection.js';
import { realIo } from '../../src/io.js';
import { openLake } from '../../src/lake/lake.js';
import { lockLake } from '../../src/lake/lock.js';
import { readTable } from '../../src/lake/read.js';
import { recoverLake } from '../../src/lake/recover.js';
import { ITEM, select, write } from './items.js';

/** Rewrites one partition of a lake after the other until it is killed, and says each version: `rewrite-forever.ts <lake>`. */
const lake = await openLake(process.argv[2] ?? '', { create: true });
await lockLake(lake, realIo);
await recoverLake(lake, realIo);
const db = await Database.open({ threads: 1 });
for (;;) {
  const { version, files } = await readTable(lake, 'items');
  const next = version + 1n;
  const site = next % 3n;
  const remove = files.filter((file) => file.partitionValues.site_id === String(site));
  const where = next === 0n ? 'true' : `i % 3 = ${site}`;
  const source = select('items', { ...ITEM, title: `'${next}'` }, `range(300) AS r(i) WHERE ${where}`);
  const written = await write(db, lake, { select: source, remove, txn: { run: next } });
  console.log(String(written));
}
