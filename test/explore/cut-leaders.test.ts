/** Tests which shops lead price cuts, on a market with a known leader. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openStory, type Story } from '../front/story.js';
import { type Explored, explore } from './explored.js';

let story: Story;
let explored: Explored;
beforeAll(async () => {
  story = await openStory();
  story.at('01 00:00');
  const radio = { gtin: '4006381333931', title: 'Radio', currency: 'EUR', price: 10_000 };
  const [kiosk, museum, market] = [11n, 22n, 33n].map((siteId) => story.add({ ...radio, siteId }));
  if (kiosk === undefined || museum === undefined || market === undefined) throw new TypeError('three shops sell it');
  // Museum cuts first, twice, and Kiosk follows within two days. Market cuts when nobody else does.
  for (const [time, item, price] of [
    ['03 00:00', museum, 9_500],
    ['04 00:00', kiosk, 9_400],
    ['08 00:00', market, 9_900],
    ['12 00:00', museum, 9_000],
    ['13 12:00', kiosk, 8_900],
  ] as const) {
    story.at(time);
    story.change(item, { price });
  }
  await story.run();
  explored = await explore(story);
});
afterAll(async () => {
  await explored.close();
  await story.close();
});

test('shops are ordered by how often they lead, and the page of shops links to this analysis', async () => {
  const [, address = ''] =
    /<a href="(\/analyses\/cut_leaders[^"]*)">Which shops lead price cuts/u.exec(await explored.page('/shops')) ?? [];
  const rows = (await explored.page(address.replace('cut_leaders', 'cut_leaders.csv'))).trimEnd().split('\r\n');
  expect(rows.map((row) => row.split(',').slice(0, 7).join())).toEqual([
    'shop,site_id,led,followed,lead_pct,cuts,products',
    'Museum,22,2,0,100,2,1',
    'Kiosk,11,0,2,0,2,1',
    'Market,33,0,0,,1,1',
  ]);
});
