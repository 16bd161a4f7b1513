import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { expect, test } from 'vitest';
import { PRICELAKE_VERSION } from '../../src/io/package-path.js';
import { realIo } from '../../src/io/real-io.js';
import { type CommitInfo, commitTable } from '../../src/lake/commit.js';
import { readLog } from '../../src/lake/delta-log.js';
import { SEAL } from '../../src/lake/log-seal.js';
import { recoverLake } from '../../src/lake/recover.js';
import { type Lake, privatePath, tablePath } from '../../src/tables/layout.js';
import type { DataFile, FileChange, StagedFile } from '../../src/tables/table.js';
import { AT } from './fixture.js';
import { add, CREATED, makeBareLake, remove, writeEntry } from './log-writer.js';

const INFO: CommitInfo = { runId: 'r', operation: 'TEST', at: AT };

/** Stages a file with any bytes, because a commit doesn't read its files. */
async function stage(lake: Lake, name: string, rows = 1): Promise<StagedFile> {
  const stagedAt = privatePath(lake, 'staging', 'r', 'items', 'one', name);
  await mkdir(dirname(stagedAt), { recursive: true });
  await writeFile(stagedAt, name);
  const stats = JSON.stringify({ numRecords: rows });
  const file = { rows: BigInt(rows), bytes: name.length, partitionValues: { site_id: '1' }, stats, modifiedAt: 1 };
  return { stagedAt, path: name, ...file };
}

const change = (add: StagedFile[], remove: DataFile[] = [], more: Partial<FileChange> = {}): FileChange => ({
  table: 'items',
  add,
  remove,
  applied: {},
  ...more,
});
const commit = (lake: Lake, wanted: FileChange, info: Partial<CommitInfo> = {}) =>
  commitTable(lake, wanted, { ...INFO, ...info });
const listFiles = async (lake: Lake) =>
  (await readdir(tablePath(lake, 'items'))).filter((name) => name.endsWith('.parquet')).sort();
const readPaths = async (lake: Lake) => [...(await readLog(lake, 'items')).files.keys()].sort();
const fileOf = async (lake: Lake, path: string) =>
  (await readLog(lake, 'items')).files.get(path) ?? expect.unreachable(`no ${path}`);

test('an empty file remains while its table has no rows, and is removed by the first commit with rows', async () => {
  const lake = await makeBareLake();
  await commit(lake, change([await stage(lake, 'empty.parquet', 0)]));
  const empty = await fileOf(lake, 'empty.parquet');
  // A run that brings no rows may neither take it nor double it.
  expect(await commit(lake, change([], [empty]))).toBe(0n);
  expect(await commit(lake, change([], [empty], { applied: { run: 1n } }))).toBe(1n);
  expect(await listFiles(lake)).toEqual(['empty.parquet']);
  await commit(lake, change([await stage(lake, 'empty-2.parquet', 0)], [empty]));
  expect(await readPaths(lake)).toEqual(['empty-2.parquet']);
  await commit(lake, change([await stage(lake, 'empty-3.parquet', 0)]));
  expect(await readPaths(lake)).toEqual(['empty-2.parquet', 'empty-3.parquet']);

  const named = await fileOf(lake, 'empty-2.parquet');
  await commit(lake, change([await stage(lake, 'a.parquet'), await stage(lake, 'empty-4.parquet', 0)], [named]));
  expect(await listFiles(lake)).toEqual(['a.parquet', 'empty-4.parquet']);
  const entry = await readFile(tablePath(lake, 'items', '_delta_log', '00000000000000000004.json'), 'utf8');
  expect(entry.match(/"remove"/g)).toHaveLength(2);
});

test("a change that removes a file already removed by another run is refused with the file's name", async () => {
  const lake = await makeBareLake();
  await commit(lake, change([await stage(lake, 'a.parquet'), await stage(lake, 'b.parquet')]));
  const [a, b] = [await fileOf(lake, 'a.parquet'), await fileOf(lake, 'b.parquet')];
  await commit(lake, change([], [b]));
  const staged = await stage(lake, 'c.parquet');
  await expect(commit(lake, change([staged], [a, b]))).rejects.toMatchObject({
    code: 'lake_locked',
    message: 'items: b.parquet is not in version 1',
    facts: { hint: 'Another run has changed the table; run the same command again.' },
  });
  expect([await listFiles(lake), await readFile(staged.stagedAt, 'utf8')]).toEqual([['a.parquet'], 'c.parquet']);
});

test("a row change by another program since the run's version is refused, but moved rows are not", async () => {
  const lake = await makeBareLake();
  const foreign = (operation: string) => ({ engineInfo: 'other 1', operation });
  await writeEntry(lake, 0n, [...CREATED, add('a'), add('b')]);
  await writeEntry(lake, 1n, [remove('a', 5)], foreign('DELETE'));
  const note = (run: bigint, since?: bigint) =>
    commit(lake, change([], [], { applied: { run } }), since === undefined ? {} : { since });
  await expect(note(1n, 0n)).rejects.toMatchObject({
    code: 'lake_locked',
    message:
      'items: during the run, another program wrote version 1 (DELETE by other 1), which changed rows: 1 rows became 0 in the files that it replaced',
    facts: { hint: 'Only pricelake may write to the tables. Run `pricelake sync` again for recovery instructions.' },
  });
  expect(await note(1n, 1n)).toBe(2n);
  expect(await note(2n)).toBe(3n);
  await writeEntry(lake, 4n, [], foreign('VACUUM END'));
  expect(await note(3n, 2n)).toBe(5n);
});

test('superseded files are deleted with the commit unless the table retains them', async () => {
  const lake = await makeBareLake();
  await commit(lake, change([await stage(lake, 'a.parquet')]));
  await commit(lake, change([await stage(lake, 'b.parquet')], [await fileOf(lake, 'a.parquet')]));
  expect(await listFiles(lake)).toEqual(['b.parquet']);
  // The commit that begins to keep them keeps its own.
  const hour = 3_600_000;
  const removed = [await fileOf(lake, 'b.parquet')];
  await commit(lake, change([await stage(lake, 'c.parquet')], removed), { retentionMs: hour });
  await commit(lake, change([await stage(lake, 'd.parquet')], [await fileOf(lake, 'c.parquet')]));
  expect(await listFiles(lake)).toEqual(['b.parquet', 'c.parquet', 'd.parquet']);
  const events: unknown[] = [];
  const io = (ms: number) => ({
    ...realIo,
    now: () => new Date(AT.getTime() + ms),
    log: (...event: unknown[]) => events.push(event),
  });
  await recoverLake(lake, io(hour - 1));
  expect([await listFiles(lake), events]).toEqual([['b.parquet', 'c.parquet', 'd.parquet'], []]);
  await recoverLake(lake, io(hour));
  expect(await listFiles(lake)).toEqual(['d.parquet']);
  expect(events).toEqual([['info', 'lake.recovered', { table: 'items', files: 2 }]]);
});

test("a commit removes its own staging folder and keeps the run's other staged files", async () => {
  const lake = await makeBareLake();
  const staged = await stage(lake, 'a.parquet');
  const other = privatePath(lake, 'staging', 'r', 'history', 'two', 'x.parquet');
  await mkdir(dirname(other), { recursive: true });
  await writeFile(other, 'x');
  await commit(lake, change([staged]));
  expect(await readdir(privatePath(lake, 'staging', 'r'))).toEqual(['history']);
  expect(await readFile(other, 'utf8')).toBe('x');
  await rm(dirname(other), { recursive: true });
  await commit(lake, change([await stage(lake, 'b.parquet')]));
  expect(await readdir(privatePath(lake, 'staging', 'r'))).toEqual(['history']);
  await rm(privatePath(lake, 'staging', 'r'), { recursive: true });
  await commit(lake, change([await stage(lake, 'c.parquet')]));
  expect(await readdir(privatePath(lake, 'staging'))).toEqual([]);
});

test('an entry starts with its writer, time and operation, and contains only what is new', async () => {
  const lake = await makeBareLake();
  const read = async (version: number) => {
    const name = `${String(version).padStart(20, '0')}.json`;
    const lines = (await readFile(tablePath(lake, 'items', '_delta_log', name), 'utf8')).trimEnd().split('\n');
    return lines.map((line) => JSON.parse(line) as Record<string, unknown>);
  };
  const kinds = (actions: object[]) => actions.map((action) => Object.keys(action).join());
  await commit(lake, change([await stage(lake, 'a.parquet')], [], { applied: { run: 1n } }));
  const first = await read(0);
  expect(kinds(first)).toEqual(['commitInfo', 'protocol', 'metaData', 'txn', 'add']);
  expect(first[1]).toEqual({ protocol: { minReaderVersion: 1, minWriterVersion: 2 } });
  const removed = [await fileOf(lake, 'a.parquet')];
  const at = new Date('2026-11-21T00:00:00.123Z');
  await commit(lake, change([await stage(lake, 'b.parquet')], removed, { applied: { run: 2n } }), { at, runId: 'r7' });
  const [info, ...actions] = await read(1);
  expect(kinds(actions)).toEqual(['txn', 'remove', 'add']);
  const engineInfo = `pricelake/${PRICELAKE_VERSION}`;
  const facts = { timestamp: at.getTime(), operation: 'TEST', operationParameters: {}, runId: 'r7' };
  expect(info).toEqual({
    commitInfo: { ...facts, engineInfo, [SEAL]: expect.stringMatching(/^[0-9a-f]{64}$/) },
  });
});

test("if a file can't be moved into place, the files already moved return to staging", async () => {
  const lake = await makeBareLake();
  const [a, b] = [await stage(lake, 'a.parquet'), await stage(lake, 'b.parquet')];
  await rm(b.stagedAt);
  await expect(commit(lake, change([a, b]))).rejects.toMatchObject({ code: 'ENOENT' });
  expect([await listFiles(lake), await readFile(a.stagedAt, 'utf8')]).toEqual([[], 'a.parquet']);
  await writeFile(b.stagedAt, 'b');
  expect(await commit(lake, change([a, b]))).toBe(0n);
});

test('of two writers of one version, the second gets an error and its files back', async () => {
  const lake = await makeBareLake();
  const own = await stage(lake, 'a.parquet');
  const slow = commit(lake, change([own]));
  await writeEntry(lake, 0n, [...CREATED, add('z')]);
  await expect(slow).rejects.toMatchObject({
    code: 'lake_locked',
    message: 'items: another writer created version 0 first',
    facts: { hint: 'Only one run may write to a lake at a time. Run the same command again.' },
  });
  expect([await listFiles(lake), await readFile(own.stagedAt, 'utf8')]).toEqual([[], 'a.parquet']);
});
