import { appendFile, mkdir, readdir, rm, stat, writeFile } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { realIo } from '../../src/io/real-io.js';
import { withDamagedLake } from '../../src/lake/damaged-lake.js';
import { openLake } from '../../src/lake/lake.js';
import { lockLake } from '../../src/lake/lock.js';
import { withLockedLake } from '../../src/lake/locked-lake.js';
import { type Lake, privatePath, tablePath } from '../../src/tables/layout.js';
import { makeFolder } from './fixture.js';
import { add, CREATED, META_DATA, remove, writeEntry } from './log-writer.js';

const never = new AbortController().signal;

async function makeLake(): Promise<Lake> {
  const lake = await openLake(await makeFolder(), { create: true });
  await writeEntry(lake, 0n, [...CREATED, add('a.parquet')]);
  await writeFile(tablePath(lake, 'items', 'a.parquet'), 'x');
  await writeFile(privatePath(lake, 'tmp', 'left-over'), 'x');
  return lake;
}

const exists = (file: string) =>
  stat(file).then(
    () => true,
    () => false,
  );

/** Expects that nothing remains that would affect a later command. */
async function expectReleased(lake: Lake): Promise<void> {
  expect((await readdir(privatePath(lake))).filter((name) => name.startsWith('lock'))).toEqual([]);
  expect(await readdir(privatePath(lake, 'work')).catch(() => [])).toEqual([]);
}

test('work gets the recovered lake exclusively and a database, and leaves nothing behind', async () => {
  const lake = await makeLake();
  const stop = new AbortController();
  const result = await withLockedLake(lake.root, realIo, stop.signal, async (locked) => {
    expect(locked.lake.root).toBe(lake.root);
    expect(await locked.db.row('SELECT 1 AS one')).toEqual({ one: 1 });
    expect(await exists(privatePath(lake, 'tmp', 'left-over'))).toBe(false);
    expect(await readdir(privatePath(lake, 'work'))).toHaveLength(1);
    await expect(lockLake(lake, realIo)).rejects.toMatchObject({ code: 'lake_locked' });
    expect(locked.stop.aborted).toBe(false);
    stop.abort();
    expect(locked.stop.aborted).toBe(true);
    return 7;
  });
  expect(result).toBe(7);
  await expectReleased(lake);
});

test('failing work releases the lake, and an unreadable file is reported as damage', async () => {
  const lake = await makeLake();
  const file = tablePath(lake, 'items', 'a.parquet');
  for (const withLake of [withLockedLake, withDamagedLake]) {
    const work = withLake(lake.root, realIo, never, ({ db }) => db.rows(`FROM read_parquet('${file}')`));
    await expect(work).rejects.toMatchObject({
      code: 'lake_invalid',
      message: expect.stringContaining('a data file is missing or damaged'),
    });
    await expectReleased(lake);
  }
});

test('a fault of the machine is reported as such', async () => {
  const lake = await makeLake();
  for (const withLake of [withLockedLake, withDamagedLake]) {
    const work = withLake(lake.root, realIo, never, async () => {
      throw Object.assign(new Error('full'), { code: 'ENOSPC' });
    });
    await expect(work).rejects.toMatchObject({ code: 'disk_full' });
  }
});

test('tables with foreign changes or other columns are refused, but a repair may open them', async () => {
  const changed = await makeLake();
  await writeEntry(changed, 1n, [remove('a.parquet', 5)], { engineInfo: 'other 1', operation: 'DELETE' });
  const other = await makeLake();
  const schema = JSON.parse(META_DATA.schemaString) as { fields: object[] };
  schema.fields.push({ name: 'brand_id', type: 'long', nullable: true, metadata: {} });
  await writeEntry(other, 1n, [{ metaData: { ...META_DATA, schemaString: JSON.stringify(schema) } }]);
  for (const [lake, message] of [
    [changed, 'another program wrote version 1 (DELETE by other 1), which changed rows'],
    [other, 'it has column brand_id, which schemas/items.yaml'],
  ] as const) {
    await expect(withLockedLake(lake.root, realIo, never, async () => {})).rejects.toThrow(message);
    await expectReleased(lake);
    expect(await exists(privatePath(lake, 'tmp', 'left-over'))).toBe(true);
  }
  const damaged = await withDamagedLake(changed.root, realIo, never, async (_locked, found) => found.damaged);
  expect(damaged.get('items')).toContain('changed rows');
});

test('a lake with damaged logs and marker can be inspected and remains unchanged', async () => {
  const lake = await makeLake();
  await mkdir(privatePath(lake, 'landing', '000001-r'), { recursive: true });
  await appendFile(await writeEntry(lake, 1n, []), '{');
  await rm(privatePath(lake, 'format.json'));
  await withDamagedLake(lake.root, realIo, never, async (locked, { damaged, markerDamage, states }) => {
    expect(locked.lake.root).toBe(lake.root);
    expect([damaged.has('items'), states.has('items')]).toEqual([true, false]);
    expect(markerDamage).toBe(`${privatePath(lake, 'format.json')}: missing`);
  });
  expect(await exists(privatePath(lake, 'tmp', 'left-over'))).toBe(true);
  await expectReleased(lake);
});
