import { rm } from 'node:fs/promises';
import path from 'node:path';
import { beforeEach, expect, onTestFinished, test } from 'vitest';
import type { Io } from '../../src/io/io.js';
import type { TableName } from '../../src/tables/table.js';
import { startS3, withCredentials } from '../remote/s3-server.js';
import { readCurrentItems } from '../remote/s3-world.js';
import { addItem } from '../sim/events.js';
import { openSimulation, type Simulation } from '../sim/simulation.js';
import { type Item, SECOND } from '../sim/world.js';

const HOUR = 3600n * SECOND;
/** A row with half a surrogate pair can't be typed, wherever it is read. */
const HALF = 'half \ud83d';

let simulation: Simulation;
/** An item in stale_items that the next run can read. */
let item: Item;

function addHalf(): Item {
  const { world } = simulation;
  const added = addItem(world);
  added.title = HALF;
  world.keep(added);
  world.settle();
  return added;
}

beforeEach(async () => {
  simulation = await openSimulation({ seed: 7, items: 30 });
});

async function copyStale(): Promise<void> {
  onTestFinished(() => simulation.close());
  await simulation.sync();
  item = addHalf();
  expect((await simulation.sync()).row).toMatchObject({ stale_items: 1n });
  item.title = 'whole';
  simulation.world.keep(item);
  simulation.world.now += 5n * HOUR;
}

/** Stops a run after the nth commit of a table. */
async function stopAfter(table: TableName, nth = 1): Promise<void> {
  const stopped = new Error('stopped');
  let commits = 0;
  const log: Io['log'] = (_level, event, facts = {}) => {
    if (event === 'committed' && facts.table === table && ++commits === nth) throw stopped;
  };
  await expect(simulation.sync({ log })).rejects.toBe(stopped);
}

const holds = async () => (await readCurrentItems(simulation.lakePath)).some((row) => row.startsWith(`${item.id},`));

test('an item in stale_items reaches items even if a run was stopped between the commits of stale_items and items', async () => {
  await copyStale();
  await stopAfter('stale_items');
  expect(await holds()).toBe(false);
  expect(await simulation.sync()).toMatchObject({ resumed: true, row: { caught_up: true, stale_items: 0n } });
  expect(await holds()).toBe(true);
  await simulation.expectSound();
});

test('an item leaves stale_items only after items contains it', async () => {
  await copyStale();
  addHalf();
  await stopAfter('stale_items', 2);
  expect(await holds()).toBe(true);
});

test('such an item is read again if the stopped run also lost its landing', async () => {
  await copyStale();
  await stopAfter('stale_items');
  await rm(path.join(simulation.lakePath, '_pricelake', 'landing'), { recursive: true });
  expect(await simulation.sync()).toMatchObject({ resumed: false, row: { caught_up: true, stale_items: 0n } });
  expect(await holds()).toBe(true);
  await simulation.expectSound();
});

test.each(['stale_items', 'items', 'runs'] as const)(
  'an item that has become stale stays stale if a run was stopped after the commit of %s',
  async (table) => {
    await copyStale();
    addHalf();
    await stopAfter(table);
    const { row } = await simulation.sync();
    expect(row).toMatchObject({ caught_up: false, stale_items: 1n });
    expect(await holds()).toBe(true);
    await simulation.expectSound();
  },
);

test('a machine with an empty disk continues where another was stopped between uploading stale_items and items', async () => {
  const s3 = await startS3();
  onTestFinished(withCredentials());
  onTestFinished(() => s3.close());
  const { lake } = simulation.pipeline;
  Object.assign(lake, { remote: `s3://bucket/prices?endpoint=${s3.endpoint}`, retention: 3_600_000 });
  await copyStale();
  const had = new Set(s3.objects.keys());
  const isSent = (key: string, part: string) => key.includes(part) && !had.has(key);
  s3.fault = ({ method, key }) => {
    const isNext = method === 'PUT' && isSent(key, '/items/_delta_log/');
    return isNext && [...s3.objects.keys()].some((one) => isSent(one, '/stale_items/_delta_log/')) ? '500' : undefined;
  };
  await expect(simulation.sync()).rejects.toThrow();
  s3.fault = () => undefined;
  await rm(lake.path, { recursive: true });
  expect(await simulation.sync()).toMatchObject({ resumed: true, row: { caught_up: true, stale_items: 0n } });
  expect(await holds()).toBe(true);
});
