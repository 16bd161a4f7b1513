/** Tests the statements on Today after a first and a second run. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { writeReport } from '../../src/cli/actions/write-report.js';
import { act, openContext } from '../cli/open-context.js';
import { openStory, type Story } from '../front/story.js';
import { explore } from './explored.js';

let story: Story;
beforeAll(async () => {
  story = await openStory();
});
afterAll(() => story.close());

/** Returns the text of Today, as `explore` serves it and as `report` writes it. */
async function readToday(): Promise<string[]> {
  const explored = await explore(story);
  const served = await explored.page('/');
  await explored.close();
  const output = join(story.lakePath, '..', 'today.html');
  await act(writeReport, { lake: story.lakePath, output, top: 5 }, openContext(false));
  const [written = ''] = /<article id="today".*?<\/article>/su.exec(await readFile(output, 'utf8')) ?? [];
  return [served, written].map((page) => page.replaceAll(/<[^>]*>/gu, ' ').replaceAll(/\s+/gu, ' '));
}

test('a first copy mentions no earlier run, and a second run shows what has moved since', async () => {
  story.at('15 08:00');
  const radio = { brand: 'Acme', mpn: 'R-1', title: 'Radio', currency: 'EUR' };
  const [kiosk, museum] = [11n, 22n].map((siteId) => story.add({ ...radio, siteId, price: 10_000 }));
  story.at('18 20:00');
  if (kiosk === undefined || museum === undefined) throw new TypeError('the story has both listings');
  story.change(kiosk, { price: 9_000 });
  await story.run();
  for (const page of await readToday()) {
    expect(page).toContain('This is the first copy, so there is no earlier run to compare it with.');
    expect(page).not.toContain('the run before');
    expect(page).toContain('Falls 1 ');
  }
  story.at('18 21:00');
  story.change(museum, { price: 8_500 });
  await story.run();
  const [served, written] = await readToday();
  expect(served).toContain('the run before');
  for (const page of [served, written]) {
    expect(page).not.toContain('first copy');
    expect(page).toMatch(/Falls 1 Rises 0 /u);
    expect(page).toContain('Museum 100.00 85.00');
  }
});
