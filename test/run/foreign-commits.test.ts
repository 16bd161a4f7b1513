import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { runCompact } from '../../src/cli/actions/run-compact.js';
import type { Io } from '../../src/io/io.js';
import { writeCheckpoint } from '../../src/lake/checkpoint.js';
import { openLake } from '../../src/lake/lake.js';
import { readTable } from '../../src/lake/read.js';
import { syncWithWings } from '../../src/wings/index.js';
import { openContext } from '../cli/open-context.js';
import { failure } from '../failure.js';
import { commitForeign, deleteRows, ENGINE, listLog, optimize, vacuum } from '../lake/foreign-writer.js';
import { openWorld, readItems, readLake, readTruth, testIo } from './world.js';

let original: string;

const world = await openWorld({ items: 30, sites: 2, pastDays: 2 });
beforeAll(async () => {
  await world.sync();
  await world.sandbox.advance({ hours: 6, changes: 10 });
  await world.sync();
  original = world.lakePath;
});
afterAll(() => world.close());

beforeEach(() => world.renew(original));

const countHistory = () => readLake(world.lakePath, (glob) => `SELECT count(*) FROM ${glob('history')}`);

test('OPTIMIZE and VACUUM by another program are accepted, and the next sync continues', async () => {
  const before = Number((await countHistory())[0]?.[0]);
  for (const table of ['history', 'items', 'runs'] as const) {
    await optimize(world.lakePath, table);
    await vacuum(world.lakePath, table);
  }
  await world.sandbox.advance({ hours: 1, changes: 6 });
  expect((await world.sync()).row.mode).toBe('feed');
  await runCompact({ lake: world.lakePath }, openContext(true));
  expect(Number((await countHistory())[0]?.[0])).toBeGreaterThan(before);
  expect(await readItems(world.lakePath)).toEqual(await readTruth(world.sandbox));
  expect((await world.sync()).published).toBe(false);
});

test('a DELETE of items by another program is refused with table, version, program and advice; a complete copy repairs it', async () => {
  const version = await deleteRows(world.lakePath, 'items', 'item_id % 3 = 0');
  const files = (await readTable(await openLake(original, { create: false }), 'items')).files;
  const error = await failure(world.sync());
  expect(error).toMatchObject({ code: 'lake_invalid', facts: { table: 'items', engine: ENGINE, operation: 'DELETE' } });
  expect(error.message).toMatch(
    new RegExp(`items: .*version ${version} \\(DELETE by ${ENGINE}\\), which changed rows`),
  );
  expect(error.facts.hint).toContain('sync --reconcile');
  // No file was deleted that a restore needs.
  for (const file of files) await readFile(path.join(world.lakePath, 'items', file.path));
  const [[before = '']] = (await countHistory()) as [string[]];
  world.pipeline.source.mode = 'snapshot';
  const { row } = await world.sync();
  expect(row).toMatchObject({ mode: 'snapshot' });
  expect(row.missed).toBeGreaterThan(0n);
  expect(await readItems(world.lakePath)).toEqual(await readTruth(world.sandbox));
  // The repair isn't recorded as a change of the items.
  const [[diffs = '']] = (await readLake(
    world.lakePath,
    (glob) => `SELECT count(*) FROM ${glob('history')} WHERE origin = 'diff'`,
  )) as [string[]];
  expect(diffs).toBe('0');
  expect(Number((await countHistory())[0]?.[0])).toBeGreaterThanOrEqual(Number(before));
  world.pipeline.source.mode = 'auto';
  expect((await world.sync()).row.mode).toBe('feed');
});

test('a repair that is killed before and after its commit of items continues', async () => {
  await deleteRows(world.lakePath, 'items', 'item_id % 3 = 0');
  world.pipeline.source.mode = 'snapshot';
  for (const event of ['audited', 'committed', 'pointed']) {
    const log = (_level: string, name: string, facts?: object) => {
      const table = (facts as { table?: string } | undefined)?.table;
      if (name === event && (table === undefined || table === 'items')) throw new Error('the process dies');
    };
    await expect(syncWithWings(world.pipeline, { ...testIo, log })).rejects.toThrow('the process dies');
    world.pipeline.source.mode = 'auto';
  }
  await world.sync();
  expect(await readItems(world.lakePath)).toEqual(await readTruth(world.sandbox));
});

test('after a change of history by another program, the only advice is a rebuild', async () => {
  await deleteRows(world.lakePath, 'history', 'true');
  world.pipeline.source.mode = 'snapshot';
  const error = await failure(world.sync());
  expect(error.message).toMatch(/history: another program wrote version \d+ \(DELETE by delta-rs/);
  expect(error.facts.hint).toMatch(/^`pricelake lake rebuild`/);
});

test('rows that another program deleted from a hundred partitions are repaired by a complete copy', async () => {
  const many = await openWorld({ items: 4000, sites: 200, pastDays: 2, history: 'none' });
  try {
    await many.sync();
    await deleteRows(many.lakePath, 'items', 'item_id % 50 = 0');
    await expect(many.sync()).rejects.toMatchObject({ code: 'lake_invalid' });
    many.pipeline.source.mode = 'snapshot';
    await many.sync();
    expect(await readItems(many.lakePath)).toEqual(await readTruth(many.sandbox));
  } finally {
    await many.close();
  }
});

describe('a commit by another program is refused', () => {
  test('if it claims that no row changed, but has other rows', async () => {
    const version = await optimize(world.lakePath, 'items');
    const entry = (await listLog(world.lakePath, 'items')).at(-1) ?? '';
    const text = await readFile(entry, 'utf8');
    await writeFile(entry, text.replace(/\\"numRecords\\":\d+/, '\\"numRecords\\":3'));
    expect((await failure(world.sync())).message).toMatch(
      new RegExp(
        `version ${version} \\(OPTIMIZE by ${ENGINE}\\), which claims that no rows changed, but \\d+ rows became \\d+`,
      ),
    );
  });

  test('if it raises the protocol, by name and with its features', async () => {
    const protocol = { minReaderVersion: 3, minWriterVersion: 7, readerFeatures: ['deletionVectors'] };
    const version = await commitForeign(world.lakePath, 'items', 'SET TBLPROPERTIES', [{ protocol }]);
    const error = await failure(world.sync());
    expect(error.message).toContain(
      `version ${version} (SET TBLPROPERTIES by ${ENGINE}) raised the table to Delta reader 3, writer 7 (deletionVectors)`,
    );
    expect(error.facts.hint).toContain('rebuild');
  });

  test('even if it is before a checkpoint', async () => {
    const version = await deleteRows(world.lakePath, 'items', 'item_id % 3 = 0');
    const lake = await openLake(world.lakePath, { create: false });
    await writeCheckpoint(lake, 'items', new Date());
    expect((await failure(world.sync())).message).toContain(`version ${version} (DELETE`);
  });

  // I7 of SPEC.md
  test("even if it is made while a run works, before the run's own commit or before lake.json", async () => {
    for (const [event, code] of [
      ['audited', 'lake_locked'],
      ['committed', 'lake_invalid'],
    ] as const) {
      world.renew(original);
      await world.sandbox.advance({ hours: 1, changes: 4 });
      const log: Io['log'] = (_level, name, facts) => {
        if (name === event && (facts?.table ?? 'runs') === 'runs') intrude(world.lakePath);
      };
      const error = await failure(syncWithWings(world.pipeline, { ...testIo, log }));
      expect(error).toMatchObject({ code, message: expect.stringContaining(`(DELETE by ${ENGINE})`) });
      expect((await failure(world.sync())).message).toContain(`(DELETE by ${ENGINE})`);
    }
  });
});

/** Another program immediately removes the rows of history. */
function intrude(root: string): void {
  const folder = path.join(root, 'history', '_delta_log');
  const names = readdirSync(folder)
    .filter((name) => name.endsWith('.json'))
    .sort();
  const text = readFileSync(path.join(folder, names[0] ?? ''), 'utf8');
  const first = text.split('\n').find((line) => line.startsWith('{"add"')) ?? '{}';
  const { path: file } = (JSON.parse(first) as { add: { path: string } }).add;
  const lines = [
    { commitInfo: { timestamp: 0, operation: 'DELETE', engineInfo: ENGINE } },
    { remove: { path: file, dataChange: true, deletionTimestamp: 0 } },
  ];
  const name = `${String(names.length).padStart(20, '0')}.json`;
  writeFileSync(path.join(folder, name), lines.map((line) => `${JSON.stringify(line)}\n`).join(''));
}
