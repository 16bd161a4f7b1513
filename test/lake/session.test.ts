import { mkdir, readdir, stat, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { expect, test } from 'vitest';
import { openSession } from '../../src/lake/session.js';
import { makeLake, openDatabase } from './fixture.js';

test('a session works in an emptied folder, has macros, and leaves nothing behind', async () => {
  const lake = await makeLake();
  const workFolder = path.join(lake.root, '_pricelake', 'work', 'r');
  await mkdir(workFolder, { recursive: true });
  await writeFile(path.join(workFolder, 'left-over'), 'x');
  const session = await openSession({ hasModels: true, workFolder });
  expect(await readdir(workFolder)).not.toContain('left-over');
  expect(await session.db.row("SELECT exact_money('1.50')::VARCHAR AS money")).toEqual({ money: '1.5000' });
  await session.close();
  await expect(stat(workFolder)).rejects.toThrow('ENOENT');
});

test('a session has the given memory limit and spills into its folder', async () => {
  const settings = "SELECT current_setting('memory_limit') AS memory, current_setting('temp_directory') AS spill";
  const db = await openDatabase();
  const { memory: ofMachine } = (await db.row(settings)) ?? {};
  for (const [memoryLimit, memory] of [
    ['100MB', '95.3 MiB'],
    ['default', ofMachine],
  ] as const) {
    const session = await openSession({ memoryLimit });
    expect(path.basename(session.workFolder)).toMatch(/^pricelake-[A-Za-z0-9]{6}$/);
    expect(await session.db.row(settings)).toEqual({ memory, spill: path.join(session.workFolder, 'spill') });
    await session.close();
  }
});

test('a session outside of a run has no macros and ends with its abort signal', async () => {
  const stop = new AbortController();
  const session = await openSession({ signal: stop.signal });
  await expect(session.db.row("SELECT exact_money('1')")).rejects.toThrow('exact_money');
  stop.abort();
  await expect(session.db.row('SELECT sum(range) FROM range(2000000000)')).rejects.toThrow(/abort|interrupt/i);
  await session.close();
});

test("a database that can't be opened leaves no folder", async () => {
  const workFolder = path.join((await makeLake()).root, 'new', 'work');
  await expect(openSession({ workFolder, memoryLimit: 'much' })).rejects.toThrow('Failed to set config');
  await expect(stat(workFolder)).rejects.toThrow('ENOENT');
});
