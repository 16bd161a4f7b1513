import { expect, onTestFinished, test } from 'vitest';
import type { Io } from '../../src/io/io.js';
import { events } from './events.js';
import type { Habits } from './habits.js';
import { readLakeRows } from './lake-rows.js';
import { openSimulation, type Simulation } from './simulation.js';
import type { Item } from './world.js';

async function openCopied(habits: Partial<Habits> = {}): Promise<Simulation> {
  const simulation = await openSimulation({ seed: 7, items: 30, habits });
  onTestFinished(() => simulation.close());
  await simulation.expectCopy(await simulation.sync(), true);
  return simulation;
}

/** Datasets have other names from now on, and so have they in every item. */
function rename({ world }: Simulation, names: readonly [string, string]): void {
  const now = new Map(world.datasets.map((former, place) => [former, names[place] as string]));
  world.datasets = names;
  for (const item of world.items.values()) {
    item.datasets = item.datasets.map((name) => now.get(name) ?? name);
    world.keep(item);
  }
}

/** The price of an item changes, by which a run has news. */
function changePrice({ world }: Simulation): void {
  const item = world.visibleItems().find(({ removedAt, datasets }) => removedAt === null && datasets.length > 0);
  events.changePrice(world, item as Item);
  world.settle();
}

/** The run after that copies the names, and finds nothing but the change of a price. */
async function expectRenamed(simulation: Simulation): Promise<void> {
  changePrice(simulation);
  const before = (await readLakeRows(simulation.lakePath)).history.length;
  const report = await simulation.sync();
  expect(report.row).toMatchObject({ mode: 'feed', differences: 0n, sample_mismatches: 0n });
  expect((await readLakeRows(simulation.lakePath)).history).toHaveLength(before + 1);
  await simulation.expectCopy(report, true);
  await simulation.expectSound();
}

test('a dataset with another name has it in all its items after the next run, and the run after that writes nothing', async () => {
  const simulation = await openCopied();
  for (const names of [
    ['Home', 'Tools'],
    ['Home', 'Workshop'],
    ['Garden', 'Garden & tools'],
  ] as const) {
    rename(simulation, names);
    await expectRenamed(simulation);
    expect((await simulation.sync()).published).toBe(false);
  }
});

test('two datasets exchange their names, also in a run that was stopped when the items had them', async () => {
  const simulation = await openCopied();
  rename(simulation, ['Tools', 'Garden']);
  await expectRenamed(simulation);
  rename(simulation, ['Garden', 'Tools']);
  changePrice(simulation);
  const log: Io['log'] = (_level, event, { table } = {}) => {
    if (event === 'committed' && table === 'items') throw new Error('stopped here');
  };
  await expect(simulation.sync({ log })).rejects.toThrow('stopped here');
  await simulation.expectCopy(await simulation.sync(), true);
  await simulation.expectSound();
});

test('names that exports list in one text are replaced as a whole', async () => {
  const simulation = await openCopied({ format: 'csv', csvLists: '; ', datasetNames: 'with separators' });
  rename(simulation, ['Garden', 'Tools; Home; Garden']);
  await expectRenamed(simulation);
});

test('what a complete copy lacks of a renamed dataset is gone, and the copy brings the names of the rest', async () => {
  const simulation = await openCopied();
  const { world, pipeline, lakePath } = simulation;
  rename(simulation, ['Home', 'Workshop']);
  const left = world
    .visibleItems()
    .find(({ removedAt, datasets }) => removedAt === null && datasets.length === 2) as Item;
  Object.assign(left, { sight: 'gone', hasLeft: true });
  world.keep(left);
  pipeline.source.mode = 'snapshot';
  const before = (await readLakeRows(lakePath)).history.length;
  changePrice(simulation);
  const report = await simulation.sync();
  expect(report.row).toMatchObject({ mode: 'snapshot', gone: 1n });
  const { items, history } = await readLakeRows(lakePath);
  expect(history).toHaveLength(before + 1);
  const row = items.find(({ item_id }) => item_id === String(left.id));
  expect(row).toMatchObject({ is_listed: 'false', gone_at: expect.any(String), datasets: '["Home","Workshop"]' });
  await simulation.expectCopy(report, true, true);
  await simulation.expectSound();
});
