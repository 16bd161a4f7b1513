/** Compares the page of a price list with the result of `watch`. */
import { mkdtemp, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { runHere } from '../cli/pricelake.js';
import { openStory, type Story } from '../front/story.js';
import { explore } from './explored.js';

let story: Story;
let folder: string;
let list: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'explore-list-'));
  list = join(folder, 'mine.csv');
  await writeFile(list, 'product,price,currency,lowest\nacme-r1,99.00,EUR,85.00\nacme-none,1.00,EUR,\n');
  story = await openStory();
  story.at('17 08:00');
  const radio = { brand: 'Acme', mpn: 'R-1', title: 'Radio' };
  story.add({ ...radio, siteId: 11n, price: 10_000 });
  const market = story.add({ ...radio, siteId: 33n, price: 10_500 });
  await story.run();
  await runHere(['watch', '--list', list, '--lake', story.lakePath]);
  story.at('19 09:00');
  story.change(market, { previousPrice: 10_500, price: 8_000 });
  await story.run();
});
afterAll(async () => {
  await story.close();
  await rm(folder, { recursive: true });
});

const toText = (html: string) => html.replaceAll(/<[^>]*>/gu, ' ').replaceAll(/\s+/gu, ' ');

test('the page shows changes since watch last ran without replacing its result, and ignores an unreadable one', async () => {
  const before = await stat(`${list}.watch.parquet`);
  const explored = await explore(story, { list });
  const page = toText(await explored.page('/list'));
  expect(page).toMatch(/changed since \d+ \w+ 20\d\d, \d\d:\d\d , when watch last ran/u);
  expect(page).toContain(
    '3 changes cheapest 100.0000 Kiosk → 80.0000 Market position 1 → 2 below the allowed price: Market',
  );
  expect(page).toContain('acme-none');
  expect(page).toContain('no listing of this product');
  expect((await stat(`${list}.watch.parquet`)).mtimeMs).toBe(before.mtimeMs);

  await runHere(['watch', '--list', list, '--lake', story.lakePath]);
  const read = async () => toText(await explored.page('/list'));
  await expect.poll(read, { timeout: 20_000 }).not.toContain('3 changes');
  expect(await read()).toContain('when watch last ran');

  await writeFile(`${list}.watch.parquet`, 'not Parquet');
  await expect.poll(read, { timeout: 20_000 }).not.toContain('when watch last ran');
  expect(await read()).toContain('2 of 3');
  await explored.close();
});

test('the page shows how sure an alarm is, and why', async () => {
  const file = join(folder, 'unsure.csv');
  await writeFile(
    file,
    'product,price,currency,lowest\nacme-lamp,99.00,EUR,60.00\nacme-r1,99.00,EUR,85.00\n4006381333931,99.00,EUR,90.00\n',
  );
  story.at('20 09:00');
  const lamp = { brand: 'Acme', mpn: 'Lamp', title: 'Lamp' };
  story.add({ ...lamp, siteId: 11n, price: 10_000 });
  story.add({ ...lamp, siteId: 33n, price: 5_000 });
  story.add({ gtin: '4006381333931', brand: 'Acme', title: 'Acme Clock', siteId: 11n, price: 10_000 });
  story.add({ gtin: '4006381333931', brand: 'Zeta', title: 'Zeta Clock', siteId: 33n, price: 8_000 });
  await story.run();
  const explored = await explore(story, { list: file });
  const page = toText(await explored.page('/list'));
  expect(page).toMatch(/ Market sure .* Market unsure 1 reason 50\.0000 Market: two shops, 2\.00 times apart /u);
  expect(page).toContain('Market unsure 1 reason 80.0000 Market: no other listing names its brand ');
  expect(toText(await explored.page('/'))).toContain('below your lowest allowed price for 1, and perhaps for 2 more');
  await explored.close();
});

test('lines are counted by place, and each place shows its own lines', async () => {
  const file = join(folder, 'places.csv');
  await writeFile(file, 'product,price,currency\nacme-r1,70.00,EUR\nacme-lamp,60.00,EUR\n4006381333931,120.00,EUR\n');
  const explored = await explore(story, { list: file });
  const page = await explored.page('/list');
  expect(page).toContain(
    'aria-label="Lines of the list by place: 1 cheapest, 1 in the middle, 1 most expensive, 0 alone."',
  );
  const [, address = ''] = /<a href="([^"]*)">1 in the middle<\/a>/u.exec(page) ?? [];
  const middle = toText(await explored.page(address.replaceAll('&amp;', '&')));
  expect(middle).toMatch(/only prices that count are compared .* Lamp acme-lamp 60\.00/u);
  expect(/Position(.*)Suggested prices/u.exec(middle)?.[1]).not.toContain('acme-r1');
  await explored.close();
});

test('several shops of a line can be expanded, and a column without any value is omitted', async () => {
  const file = join(folder, 'dear.csv');
  await writeFile(file, 'product,price,currency\nacme-r1,199.00,EUR\n');
  const explored = await explore(story, { list: file });
  const page = await explored.page('/list');
  expect(page).toMatch(/<summary>2 shops<\/summary><div><bdi>Kiosk<\/bdi><\/div><div><bdi>Market<\/bdi><\/div>/u);
  expect(page).not.toContain('data-name="left_out"');
  await explored.close();
});
