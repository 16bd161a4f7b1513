import { expect, test } from 'vitest';
import { openStory } from '../front/story.js';
import { explore } from './explored.js';

test('a chart has all rows, whichever part the table shows and in which order', async () => {
  const story = await openStory();
  story.at('01 08:00');
  const pen = story.add({ brand: 'Acme', mpn: 'P-1', title: 'Pen', category: null, siteId: 11n, price: 100 });
  await story.run();
  for (let n = 0; n < 3; n++) {
    story.at(`0${n + 2} 08:00`);
    story.change(pen, { previousPrice: pen.price, price: 110 + n });
  }
  await story.run();
  const served = await explore(story);
  const read = async (path: string) => /aria-label="(Bars of changes[^"]*)"/u.exec(await served.page(path))?.[1];
  const whole = await read('/analyses/changes_by_day');
  expect(whole).toMatch(/ 3 changes in all|4 changes in all/u);
  expect(await read('/analyses/changes_by_day?sort=changes&order=desc')).toBe(whole);
  expect(await read('/analyses/changes_by_day?from=2')).toBe(whole);
  await served.close();
  await story.close();
});
