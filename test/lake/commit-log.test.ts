import { readdir, readFile, rm } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { realIo } from '../../src/io/io.js';
import { PRICELAKE_VERSION } from '../../src/io/package-path.js';
import { commitTable } from '../../src/lake/commit.js';
import { privatePath, tablePath } from '../../src/lake/layout.js';
import { publishPointer } from '../../src/lake/publish.js';
import { readTable } from '../../src/lake/read.js';
import { recoverLake } from '../../src/lake/recover.js';
import { stageTable } from '../../src/lake/stage.js';
import { AT, glob, ITEM, makeLake, openDatabase, readRows, select, write } from './fixture.js';

const source = select('items', ITEM, 'range(9) AS r(i)');
const INFO = { runId: 'r7', operation: 'TEST', at: AT };

/** The actions of a version of `items`, by their kind. */
async function readActions(root: string, version: number): Promise<Record<string, unknown>[]> {
  const log = `${root}/items/_delta_log/${String(version).padStart(20, '0')}.json`;
  const lines = (await readFile(log, 'utf8')).trimEnd().split('\n');
  return lines.map((line) => JSON.parse(line) as Record<string, unknown>);
}

test('a change that only removes files is a version of its own', async () => {
  const [db, lake] = [await openDatabase(), await makeLake()];
  await write(db, lake, { select: source });
  const [first, ...others] = (await readTable(lake, 'items')).files;
  if (first === undefined) throw new Error('there is no file');
  expect(await commitTable(lake, { table: 'items', add: [], remove: [first], applied: {} }, INFO)).toBe(1n);
  expect((await readTable(lake, 'items')).files.map(({ path }) => path)).toEqual(others.map(({ path }) => path));
});

test('a table names its protocol once, and every version begins with who made it, when and why', async () => {
  const [db, lake] = [await openDatabase(), await makeLake()];
  await write(db, lake, { select: source, applied: { run: 1n } });
  const add = await stageTable(db, lake, { table: 'items', runId: 'r7', select: source });
  const at = new Date('2026-11-21T00:00:00.123Z');
  await commitTable(lake, { table: 'items', add, remove: [], applied: { run: 2n } }, { ...INFO, at });
  const versions = [await readActions(lake.root, 0), await readActions(lake.root, 1)];
  const protocols = versions.map((actions) => actions.filter(({ protocol }) => protocol !== undefined));
  expect(protocols).toEqual([[{ protocol: { minReaderVersion: 1, minWriterVersion: 2 } }], []]);
  expect(versions.map(([first]) => first?.commitInfo)).toEqual([
    expect.objectContaining({ runId: 'r1', timestamp: AT.getTime() }),
    {
      timestamp: at.getTime(),
      operation: 'TEST',
      operationParameters: {},
      engineInfo: `pricelake/${PRICELAKE_VERSION}`,
      runId: 'r7',
      actions: (versions[1]?.length ?? 0) - 1,
    },
  ]);
  expect(versions.map((actions) => actions.filter(({ commitInfo }) => commitInfo !== undefined).length)).toEqual([
    1, 1,
  ]);
});

test('recovery deletes nothing when the log has lost its last version of several, and nothing is wrong with one more', async () => {
  const [db, lake] = [await openDatabase(), await makeLake()];
  for (let version = 0; version < 3; version++) await write(db, lake, { select: source });
  await publishPointer(lake, { pipeline: 'p', runId: 'r', runNumber: 1n, cursor: 1n, at: AT, attributions: [] });
  await write(db, lake, { select: source });
  await recoverLake(lake, realIo); // a run that died before it published
  const log = tablePath(lake, 'items', '_delta_log');
  for (const name of (await readdir(log)).sort().slice(-2)) await rm(`${log}/${name}`);
  await expect(recoverLake(lake, realIo)).rejects.toMatchObject({
    code: 'lake_invalid',
    message: expect.stringContaining('its log ends at version 1, lake.json names version 2'),
  });
  expect(await readRows(db, glob(lake, 'items/**/*.parquet'))).toHaveLength(36);
});

test('recovery needs no folder that nothing was ever put into', async () => {
  const lake = await makeLake();
  for (const name of ['staging', 'tmp']) await rm(privatePath(lake, name), { recursive: true, force: true });
  await recoverLake(lake, realIo);
  expect((await readTable(lake, 'items')).version).toBe(-1n);
});
