import { mkdir, readdir, stat, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { expect, test } from 'vitest';
import { openSession } from '../../src/lake/session.js';
import { ITEM, makeLake, openDatabase, select, write } from './fixture.js';

test('a session works in an empty folder, with views, macros and the run id, and leaves nothing behind', async () => {
  const lake = await makeLake();
  const db = await openDatabase();
  await write(db, lake, { select: select('items', ITEM, 'range(9) AS r(i)') });
  const workFolder = path.join(lake.root, '_pricelake', 'work', 'r');
  await mkdir(workFolder, { recursive: true });
  await writeFile(path.join(workFolder, 'left-over'), 'x');
  const session = await openSession({ lake, runId: "it's", workFolder });
  expect(await readdir(workFolder)).not.toContain('left-over');
  const row = await session.db.row(
    "SELECT count(*) AS n, getvariable('run_id') AS run, exact_money('1.50')::VARCHAR AS money FROM items",
  );
  expect(row).toEqual({ n: 9n, run: "it's", money: '1.5000' });
  await session.close();
  await expect(stat(workFolder)).rejects.toThrow('ENOENT');
  db.close();
});

test('without a folder of its own it takes a temporary one', async () => {
  const session = await openSession();
  expect((await stat(session.workFolder)).isDirectory()).toBe(true);
  await session.close();
  await expect(stat(session.workFolder)).rejects.toThrow('ENOENT');
});

test('a session that can not be opened leaves no folder', async () => {
  const lake = await makeLake();
  const log = path.join(lake.root, 'items', '_delta_log');
  await mkdir(log, { recursive: true });
  await writeFile(path.join(log, '00000000000000000000.json'), '{');
  const workFolder = path.join(lake.root, 'work');
  await expect(openSession({ lake, workFolder })).rejects.toMatchObject({ code: 'lake_invalid' });
  await expect(stat(workFolder)).rejects.toThrow('ENOENT');
});
