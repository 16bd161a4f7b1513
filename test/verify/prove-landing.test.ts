import { cp, readdir, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { writeCheckpoint } from '../../src/lake/checkpoint.js';
import { openLake } from '../../src/lake/lake.js';
import type { TableName } from '../../src/tables/table.js';
import { deleteRows, ENGINE, listLog, optimize, vacuum } from '../lake/foreign-writer.js';
import { openWorld, type World } from '../run/world.js';
import { edit, findFaults, readProofs } from './proofs.js';

let world: World;
let root: string;
let lakes = 0;

/** Opens a lake after a first copy and a run with changes. */
beforeAll(async () => {
  world = await openWorld({ items: 20, sites: 2, pastDays: 2 });
  await world.sync();
  await world.sandbox.advance({ hours: 6, changes: 10 });
  await world.sync();
});
afterAll(() => world.close());

beforeEach(async () => {
  root = path.join(world.folder, `lake-${++lakes}`);
  await cp(world.lakePath, root, { recursive: true });
});

const landing = () => path.join(root, '_pricelake', 'landing');

async function findLanded(run: number, prefix: string): Promise<string> {
  const runId = (await readdir(landing())).sort()[run] ?? '';
  const name = (await readdir(path.join(landing(), runId))).find((file) => file.startsWith(prefix)) ?? '';
  return path.join(landing(), runId, name);
}

const flip = (text: string) => text.slice(0, 99) + String.fromCharCode(text.charCodeAt(99) ^ 1) + text.slice(100);
const cutLastLine = (text: string) => text.slice(0, text.lastIndexOf('\n', text.length - 2) + 1);

describe('verify finds in the landing', () => {
  test('a flipped byte in the NDJSON of an export and of the feed, and a missing file', async () => {
    await edit(await findLanded(0, 'export-'), flip);
    await edit(await findLanded(1, 'feed'), flip);
    await rm(await findLanded(0, 'feed'));
    const { landing: found } = await findFaults(root);
    expect(found).toMatch(/000001-\S+export-\S+ bytes 0 to \d+ have changed since they landed: their checksum differs/);
    expect(found).toMatch(/000002-\S+feed\.ndjson bytes \d+ to \d+ have changed since they landed/);
    expect(found).toMatch(/000001-\S+feed\.ndjson is missing/);
  });

  test('a truncated journal of a finished run, within a line and at the end of a line', async () => {
    await edit(await findLanded(0, 'journal'), (text) => text.slice(0, -20));
    await edit(await findLanded(1, 'journal'), cutLastLine);
    const { landing: found } = await findFaults(root);
    expect(found).toMatch(/000001-\S+journal\.ndjson its last line is cut short/);
    expect(found).toMatch(/000002-\S+journal\.ndjson doesn't record that the run has ended, but the run was published/);
  });

  test('an altered or deleted line of a journal', async () => {
    await edit(await findLanded(0, 'journal'), (text) => text.replace(/"rows":\d/, '"rows":9'));
    await edit(await findLanded(1, 'journal'), (text) => {
      const lines = text.split('\n');
      return [...lines.slice(0, 3), ...lines.slice(4)].join('\n');
    });
    const { landing: found } = await findFaults(root);
    expect(found?.match(/line \d+ or one before it has changed since it was written/g)).toHaveLength(2);
  });
});

test('verify finds journal lines and landed bytes without a checksum', async () => {
  await edit(await findLanded(0, 'journal'), (text) => text.replaceAll(/,"sum":"\w+"/g, ''));
  expect((await findFaults(root)).landing).toMatch(
    /line 1 or one before it has changed since it was written: it has no checksum/,
  );
});

test('verify finds incomplete log entries and pointers to missing files', async () => {
  const entry = async (table: TableName, at: number) => (await listLog(root, table)).at(at) ?? '';
  await edit(await entry('sites', 0), (text) => text.replace(/.*"protocol".*\n/, ''));
  await edit(await entry('items', -1), (text) => text.replace(/,"runId":"[^"]+"/, ''));
  await edit(await entry('rejects', 0), (text) => text.replace(/\\"nullable\\":true/, '\\"nullable\\":false'));
  await writeCheckpoint(await openLake(root, { create: false }), 'runs', new Date());
  await writeFile(path.join(root, 'runs', '_delta_log', '_last_checkpoint'), '{"version":77}');
  await writeFile(path.join(root, '_pricelake', 'format.json'), 'garbage');
  await edit(path.join(root, 'lake.json'), (text) => text.replace(/"runNumber": \d+/, '"runNumber": 7'));
  const { logs, pointer } = await findFaults(root);
  expect(logs).toMatch(/^sites\/_delta_log\/0+\.json is the first entry, but has no protocol$/m);
  expect(logs).toMatch(/^items\/_delta_log\/\d+\.json doesn't record which run wrote it, or when$/m);
  expect(logs).toMatch(/^rejects\/_delta_log\/0+\.json doesn't allow null in \w+, but pricelake's files do$/m);
  expect(logs).toMatch(/^runs\/_delta_log\/_last_checkpoint names 0+77\.checkpoint\.parquet, which does not exist$/m);
  expect(pointer).toMatch(/^_pricelake\/format\.json is damaged$/m);
  expect(pointer).toMatch(/^lake\.json lists run 7, but the runs table is at run 2$/m);
});

test('verify reads files of other programs, and finds rows that they changed', async () => {
  for (const table of ['history', 'items'] as const) {
    await optimize(root, table);
    await vacuum(root, table);
  }
  const optimized = await readProofs(root);
  expect(optimized.filter(({ found }) => found > 0).map(({ name }) => name)).toEqual(['pointer']);
  expect(optimized.find(({ name }) => name === 'files')?.notes).toEqual([
    expect.stringMatching(/^\d+ files of other programs have no checksum/),
  ]);
  const version = await deleteRows(root, 'items', 'item_id % 3 = 0');
  const { logs } = await findFaults(root);
  expect(logs).toBe(`items version ${version} (DELETE by ${ENGINE}) changed rows, and no run repaired it`);
});

test.each([
  ['zeros', (text: string) => '\0'.repeat(text.length), 'its last line is cut short'],
  ['a truncated line', (text: string) => text.slice(0, -9), 'its last line is cut short'],
  ['a changed letter', flip, 'line 1 has changed since it was written: its checksum differs'],
  ['no line', () => '', 'is missing or empty'],
  ['a renamed checksum', (text: string) => text.replace('"sum"', '"sun"'), 'line 1 has no checksum'],
])("verify finds %s in the lake's saved state", async (_what, change, found) => {
  await edit(path.join(root, '_pricelake', 'memory.ndjson'), change);
  expect((await findFaults(root)).landing).toBe(`_pricelake/memory.ndjson ${found}`);
});
