import { mkdir, readdir, readFile, rename, symlink, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { runRebuild } from '../../src/cli/actions/run-rebuild.js';
import { showStatus } from '../../src/cli/actions/show-status.js';
import { realIo } from '../../src/io/real-io.js';
import { openMemory } from '../../src/journal/memory.js';
import { deleteFiles } from '../../src/lake/delete-files.js';
import { openLake } from '../../src/lake/lake.js';
import { estimateWithWings } from '../../src/wings/index.js';
import { EventStore } from '../../src/wings/webhook/event-store.js';
import { openContext } from '../cli/open-context.js';
import { openWorld, readItems, readTruth, testIo } from './world.js';

let original: string;
/** A folder that belongs to another program. */
let target: string;
let targets = 0;

const world = await openWorld({ items: 20, sites: 2, pastDays: 2 });
beforeAll(async () => {
  await world.sync();
  await world.sync();
  original = world.lakePath;
});
afterAll(() => world.close());
beforeEach(async () => {
  world.renew(original);
  target = path.join(world.folder, `target-${++targets}`);
  for (const name of ['lake', 'folder/lake', 'x.parquet', 'export-all-1-00001.ndjson', '00000000000000000000.json']) {
    await mkdir(path.dirname(path.join(target, name)), { recursive: true });
    await writeFile(path.join(target, name), 'precious');
  }
});

const inLake = (...parts: string[]) => path.join(world.lakePath, ...parts);
const listTarget = async () => (await readdir(target, { recursive: true })).sort();

describe('a symbolic link instead of', () => {
  test.each([
    ...['tmp', 'staging', 'work', 'landing', 'rebuild', 'replaced', 'backfill', 'webhooks', 'memory.ndjson'].map(
      (name) => `_pricelake/${name}`,
    ),
    '_pricelake/landing/000009-20261120T060000Z',
    '_pricelake/backfill/history.ndjson',
    'items',
    'history/_delta_log',
  ])('%s is refused, and its target is unchanged', async (name) => {
    const before = await listTarget();
    await mkdir(path.dirname(inLake(name)), { recursive: true });
    await rename(inLake(name), inLake('away')).catch(() => {});
    await symlink(target, inLake(name));
    const error = {
      code: 'lake_invalid',
      message: `${inLake(name)}: this is a symbolic link, which pricelake never follows inside a lake`,
    };
    await expect(world.sync()).rejects.toMatchObject(error);
    await expect(runRebuild({ lake: world.lakePath }, openContext(true))).rejects.toMatchObject({
      code: 'lake_invalid',
    });
    expect(await listTarget()).toEqual(before);
    expect(await readFile(path.join(target, 'lake'), 'utf8')).toBe('precious');
  });

  test("_pricelake in a lake that doesn't exist yet is refused", async () => {
    world.renew();
    await mkdir(world.lakePath);
    const before = await listTarget();
    await symlink(target, inLake('_pricelake'));
    await expect(world.sync()).rejects.toMatchObject({ code: 'lake_invalid' });
    expect(await listTarget()).toEqual(before);
  });

  test('a folder of the webhook receiver is refused when the receiver starts', async () => {
    await mkdir(inLake('_pricelake', 'webhooks'));
    await symlink(target, inLake('_pricelake', 'webhooks', 'tmp'));
    await expect(EventStore.open(world.lakePath, realIo)).rejects.toMatchObject({ code: 'lake_invalid' });
    expect(await readdir(inLake('_pricelake', 'webhooks'))).toEqual(['tmp']);
  });

  test("a partition of a table doesn't lead to deletions outside the lake", async () => {
    const lake = await openLake(world.lakePath, { create: false });
    await symlink(target, inLake('items', 'site_id=1'));
    await deleteFiles(lake, 'items', ['site_id=1/x.parquet']);
    expect(await readFile(path.join(target, 'x.parquet'), 'utf8')).toBe('precious');
  });
});

test('a file instead of a private folder is refused with its name', async () => {
  await rename(inLake('_pricelake', 'landing'), inLake('away'));
  await writeFile(inLake('_pricelake', 'landing'), 'x');
  await expect(world.sync()).rejects.toMatchObject({
    code: 'lake_invalid',
    message: `${inLake('_pricelake', 'landing')}: not a folder`,
  });
});

test('an address instead of a folder is refused, with advice for buckets', async () => {
  const error = { code: 'usage', message: 's3://bucket/lake: a lake is a folder on this machine, not an address' };
  await expect(showStatus({ lake: 's3://bucket/lake' }, openContext(true))).rejects.toMatchObject(error);
  world.pipeline.lake.path = 's3://bucket/lake';
  await expect(world.sync()).rejects.toMatchObject({
    ...error,
    facts: { hint: expect.stringContaining('lake.remote') },
  });
  await expect(estimateWithWings(world.pipeline, testIo)).rejects.toMatchObject(error);
});

test('a link to a lake is accepted as a lake', async () => {
  await symlink(world.lakePath, `${world.lakePath}-link`);
  world.pipeline.lake.path = `${world.lakePath}-link`;
  await world.sandbox.advance({ hours: 1, changes: 5 });
  await world.sync();
  expect(await readItems(world.lakePath)).toEqual(await readTruth(world.sandbox));
});

describe('garbage', () => {
  const GARBAGE = Buffer.from('\0\u0007{"run_number":"7"}\n{"a\n');

  test('in memory.ndjson is reported with its line and advice by every command that reads it', async () => {
    const file = inLake('_pricelake', 'memory.ndjson');
    for (const text of [GARBAGE, '{"type":"idle","row":{"run_number":"x"}}\n', '7\n', '{"type":"histories"}\n']) {
      await writeFile(file, text);
      const error = {
        code: 'lake_invalid',
        message: expect.stringContaining(`${file}: line 1 `),
        facts: { hint: expect.stringContaining('Move the file away. The runs table then lacks') },
      };
      await expect(world.sync()).rejects.toMatchObject(error);
      await expect(showStatus({ lake: world.lakePath }, openContext(true))).rejects.toMatchObject(error);
      await expect(estimateWithWings(world.pipeline, testIo)).rejects.toMatchObject(error);
    }
    await rename(file, inLake('away'));
    await world.sync();
  });

  test("in data that only saves time doesn't stop a run", async () => {
    await writeFile(inLake('_pricelake', 'swap.json'), GARBAGE);
    const text = String(GARBAGE);
    const memory = await openMemory({ root: world.lakePath }, testIo);
    await memory.append({ type: 'plan', seenAt: '2026-11-20T12:00:00.000Z', text }, { type: 'counts', text });
    await memory.close();
    await showStatus({ lake: world.lakePath }, openContext(true));
    await world.sandbox.advance({ hours: 1, changes: 5 });
    await world.sync();
    expect(await readItems(world.lakePath)).toEqual(await readTruth(world.sandbox));
    expect(await readdir(inLake('_pricelake'))).not.toContain('swap.json');
  });

  test.each([
    ['memory.ndjson', 'With `source.history: items`, pricelake reads the history of each item again'],
    ['backfill/journal.ndjson', 'Move its folder away, then request'],
    ['partial.json', 'pricelake lake restore'],
    ['lock', 'Make sure that no run is working on the lake'],
    ['format.json', 'pricelake lake rebuild'],
  ])('in %s is reported with advice', async (name, hint) => {
    const file = inLake('_pricelake', name);
    world.pipeline.source.history = 'items';
    for (const damage of [
      () => writeFile(file, GARBAGE),
      async () => {
        await rename(file, inLake('away'));
        await mkdir(file);
      },
    ]) {
      await mkdir(path.dirname(file), { recursive: true });
      if (name.startsWith('backfill/')) await writeFile(path.join(path.dirname(file), 'history.ndjson'), '{}\n');
      await damage();
      await expect(world.sync()).rejects.toMatchObject({
        code: 'lake_invalid',
        message: expect.stringContaining(file),
        facts: { hint: expect.stringContaining(hint) },
      });
    }
  });
});
