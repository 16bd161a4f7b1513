import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { setTimeout } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { realIo } from '../../src/io/real-io.js';
import { lockLake } from '../../src/lake/lock.js';
import { readTable } from '../../src/lake/read.js';
import { recoverLake } from '../../src/lake/recover.js';
import { createTableViews } from '../../src/lake/views.js';
import { glob, makeLake, openDatabase } from './fixture.js';

// I1 of SPEC.md
test('a writer killed at any moment leaves a complete version with its transaction, and the next one continues', async () => {
  const script = fileURLToPath(new URL('rewrite-forever.mjs', import.meta.url));
  const [db, lake] = [await openDatabase(), await makeLake()];
  let before = -1n;
  for (const wait of [0, 6, 12, 18, 24, 30]) {
    const writer = spawn(process.execPath, [script, lake.root], { stdio: ['ignore', 'pipe', 'inherit'] });
    const ended = once(writer, 'close').then(() => expect.unreachable('the writer ended by itself'));
    const lines = createInterface(writer.stdout);
    let said = -1n;
    lines.on('line', (line) => {
      said = BigInt(line);
    });
    while (said < before + 2n) await Promise.race([once(lines, 'line'), ended]);
    await setTimeout(wait);
    writer.kill('SIGKILL');
    await once(writer, 'close');

    const lock = await lockLake(lake, realIo);
    const { version, applied } = await readTable(lake, 'items');
    expect(version).toBeGreaterThanOrEqual(said);
    expect(applied.run).toBe(version);
    await createTableViews(db, lake);
    await db.run('CREATE OR REPLACE TABLE seen AS FROM items');
    const newest = await db.row('SELECT count(*) AS rows, max(title::BIGINT) AS newest FROM seen');
    expect(newest).toEqual({ rows: 300n, newest: version });
    await recoverLake(lake, realIo);
    await db.run('CREATE OR REPLACE TABLE left_over AS FROM seen LIMIT 0');
    await db.run(`INSERT INTO left_over BY NAME FROM ${glob(lake, 'items/*.parquet')}`);
    const differences = await db.rows(
      '(FROM seen EXCEPT ALL FROM left_over) UNION ALL (FROM left_over EXCEPT ALL FROM seen)',
    );
    expect(differences).toEqual([]);
    await lock.release();
    before = version;
  }
});
