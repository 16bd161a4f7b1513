import { readdir } from 'node:fs/promises';
import path from 'node:path';
import { afterEach, expect, test, vi } from 'vitest';
import { sealDataFile } from '../../src/lake/data-file.js';
import { beginStage } from '../../src/lake/stage.js';
import { makeLake, openDatabase, select } from '../lake/fixture.js';
import { openWorld, readItems, readTruth } from './world.js';

vi.mock('../../src/lake/data-file.js', async (original) => {
  const real = await original<typeof import('../../src/lake/data-file.js')>();
  return { ...real, sealDataFile: vi.fn(real.sealDataFile) };
});
const seal = vi.mocked(sealDataFile);
const realSeal = seal.getMockImplementation() as typeof sealDataFile;
afterEach(() => seal.mockImplementation(realSeal));

const SITE = { table: 'sites' as const, runId: 'r', select: select('sites', { site_id: '1' }) };

test('files are known before they are sealed, and have their checksums behind it', async () => {
  const [db, lake] = [await openDatabase(), await makeLake()];
  let release = () => {};
  const released = new Promise<void>((resolve) => {
    release = resolve;
  });
  seal.mockImplementation(async (...args) => {
    await released;
    return realSeal(...args);
  });
  const { files, sealed } = await beginStage(db, lake, SITE);
  expect(files.map(({ rows, sha256 }) => [rows, sha256])).toEqual([[1n, undefined]]);
  release();
  expect(await sealed).toEqual(files.map((file) => ({ ...file, sha256: expect.stringMatching(/^[0-9a-f]{64}$/) })));
});

test('a file that can not be sealed fails the stage, whose files are removed', async () => {
  const [db, lake] = [await openDatabase(), await makeLake()];
  seal.mockRejectedValue(new Error('not what was written'));
  const { files, sealed } = await beginStage(db, lake, SITE);
  await expect(sealed).rejects.toThrow('not what was written');
  await expect(readdir(path.dirname(files[0]?.stagedAt ?? ''))).rejects.toMatchObject({ code: 'ENOENT' });
});

test.each(['items', 'offers'])(
  'a run whose %s can not be sealed publishes nothing; the next one does',
  async (table) => {
    const world = await openWorld({ items: 200, sites: 3 });
    try {
      seal.mockImplementation(async (file, expected) => {
        if (file.includes(`/${table}/`)) throw new Error('not what was written');
        return realSeal(file, expected);
      });
      await expect(world.sync()).rejects.toThrow('not what was written');
      expect(await readdir(path.join(world.lakePath, 'history')).catch(() => [])).toEqual([]);
      seal.mockImplementation(realSeal);
      await world.sync();
      const [lake, truth] = await Promise.all([readItems(world.lakePath), readTruth(world.sandbox)]);
      expect(lake.size).toBe(truth.size);
      for (const [id, row] of truth) expect(lake.get(id)).toEqual(row);
    } finally {
      await world.close();
    }
  },
);
