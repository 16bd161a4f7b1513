import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { setTimeout } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { realIo } from '../../src/io.js';
import { lockLake } from '../../src/lake/lock.js';
import { readTable } from '../../src/lake/read.js';
import { recoverLake } from '../../src/lake/recover.js';
import { createTableViews } from '../../src/lake/views.js';
import { packagePath } from '../../src/schemas.js';
import { glob, makeLake, openDatabase, readRows } from './fixture.js';

test('a writer that is killed at any moment leaves a version whole, with its transaction, and the next one goes on', async () => {
  const [db, lake] = [await openDatabase(), await makeLake()];
  let before = -1n;
  for (const wait of [0, 5, 10, 15, 20, 25, 30, 35]) {
    const writer = spawn(
      process.execPath,
      ['--import', 'tsx', packagePath('test/lake/rewrite-forever.ts'), lake.root],
      {
        stdio: ['ignore', 'pipe', 'inherit'],
        cwd: packagePath('.'),
      },
    );
    const lines = createInterface(writer.stdout);
    let said = -1n;
    lines.on('line', (line) => {
      said = BigInt(line);
    });
    while (said < before + 2n) await once(lines, 'line');
    await setTimeout(wait);
    writer.kill('SIGKILL');
    await once(writer, 'close');

    const lock = await lockLake(lake, realIo);
    const { version, txn } = await readTable(lake, 'items');
    expect(version).toBeGreaterThanOrEqual(said);
    expect(txn.run).toBe(version);
    await createTableViews(db, lake);
    const seen = await readRows(db, 'items');
    expect(seen).toHaveLength(300);
    const newest = await db.row('SELECT max(title::BIGINT) AS newest FROM items');
    expect(newest?.newest).toBe(version);
    await recoverLake(lake, realIo);
    expect(await readRows(db, glob(lake, 'items/site_id=*/*.parquet'))).toEqual(seen);
    await lock.release();
    before = version;
  }
});
