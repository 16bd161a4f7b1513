import { readFile, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { writeReport } from '../../src/cli/actions/write-report.js';
import { publishLake } from './lake-fixture.js';
import { act, openContext } from './open-context.js';

const at = (time: string) => `TIMESTAMPTZ '2026-11-${time}:00:00Z'`;
const HOSTILE = "'<img src=x onerror=alert(1)>'";
const seen = { last_seen_at: at('20 08'), first_seen_at: at('01 00'), gtin: 'NULL', gtin14: 'NULL', title: "'Urn'" };

/** Beside the fixture's kettles: an urn whose price fell, rose, came and ended, and a lid under a new address. */
const lake = await publishLake([
  {
    ...seen,
    item_id: '21',
    site_id: '2',
    product_id: "'urn'",
    price: '8.5',
    previous_price: '10',
    price_changed_at: at('20 06'),
    url: "'javascript:alert(1)'",
  },
  {
    ...seen,
    item_id: '22',
    site_id: '3',
    product_id: "'urn'",
    price: '12',
    previous_price: '9.25',
    price_changed_at: at('18 06'),
  },
  {
    ...seen,
    item_id: '23',
    site_id: '2',
    product_id: "'lid'",
    title: HOSTILE,
    price: '4',
    is_listed: 'false',
    removed_at: at('10 12'),
    url: "'https://beta.example/lid'",
  },
  {
    ...seen,
    item_id: '24',
    site_id: '2',
    product_id: "'lid'",
    title: HOSTILE,
    price: '5',
    first_seen_at: at('12 00'),
    url: "'https://beta.example/lid?id=24'",
  },
  {
    ...seen,
    item_id: '25',
    site_id: '3',
    product_id: "'lid'",
    title: HOSTILE,
    price: '6',
    url: "'https://tea.example/lid'",
  },
]);
const folder = path.dirname(lake);
afterAll(() => rm(folder, { recursive: true }));

async function readSections(request: Partial<Parameters<typeof writeReport>[0]> = {}) {
  const output = path.join(folder, 'report.html');
  await act(writeReport, { lake, output, top: 50, ...request }, openContext());
  const page = await readFile(output, 'utf8');
  return (id: string) => {
    const [section = ''] = new RegExp(`<section id="${id}".*?</section>`, 'su').exec(page) ?? [];
    const rows = [...section.matchAll(/<tr role="row"[^>]*>(.*?)<\/tr>/gsu)].slice(1);
    const cells = rows.map(([, row = '']) =>
      [...row.matchAll(/<t[hd] [^>]*>(.*?)<\/t[hd]>/gsu)].map(([, cell = '']) =>
        cell.replaceAll(/<[^>]+>/gu, '').trim(),
      ),
    );
    return { section, cells, intro: (/<p>(.*?)<\/p>/su.exec(section)?.[1] ?? '').replaceAll(/<[^>]+>/gu, '') };
  };
}

describe('what moved', () => {
  it('is told of the day before the newest data, with the shop’s place before and after', async () => {
    const { section, intro, cells } = (await readSections())('moves');
    expect(intro).toBe('Since 19 Nov 2026, 08:00 UTC: 1 price fell.');
    expect(cells).toEqual([
      [
        'Urn urn',
        'Beta',
        'fell',
        '10.00 EUR',
        '8.50 EUR',
        '-15.0&nbsp;%'.replace('&nbsp;', '\u00a0'),
        '1 of 2',
        '1 of 2',
        '20 Nov 2026, 06:00 UTC',
      ],
    ]);
    // Not an address of the web.
    expect(section).not.toContain('javascript:');
    expect(section).toContain('data-currency="EUR"');
    expect(section).toContain('<button type="button" class="csv">');
  });

  it('is told since a time or a run', async () => {
    const { intro, cells } = (await readSections({ since: { time: '2026-11-11T00:00:00Z' } }))('moves');
    expect(intro).toBe('Since 11 Nov 2026, 00:00 UTC: 1 price fell, 1 price rose, 1 listing is new.');
    expect(cells.map(([title, shop, move]) => `${title} ${shop} ${move}`)).toEqual([
      'Urn urn Beta fell',
      'Urn urn 茶店 rose',
      '&lt;img src=x onerror=alert(1)&gt; lid Beta new',
    ]);
    expect(cells[1]?.slice(6, 8)).toEqual(['1 of 2', '2 of 2']);
    const none = (await readSections({ since: { time: '2026-11-20T07:00:00Z' } }))('moves');
    expect(none.section).toContain('No listing of a product moved lately.');
    // The lake's only change is of that day.
    const run = (await readSections({ since: { run: 1n } }))('moves');
    expect(run.intro).toMatch(/^Since 1 Jan 2026, 00:00 UTC: 4 listings are new\.$/u);
    await expect(readSections({ since: { run: 7n } })).rejects.toMatchObject({
      code: 'usage',
      message: '--since 7: the lake has no run of this number',
    });
  });
});

it('a new listing of the same product stands beside the one that ended', async () => {
  const { section, intro, cells } = (await readSections())('successors');
  expect(intro).toBe('Of listings that ended in the last 30 days of the data, 1 pair with a new listing is clear.');
  expect(cells).toEqual([
    [
      '&lt;img src=x onerror=alert(1)&gt; 23',
      'Beta',
      '10 Nov 2026',
      '1.5',
      'product, title, path',
      '4.00 EUR',
      '5.00 EUR',
      '+25.0\u00a0%',
      'yes',
    ],
  ]);
  expect(section).not.toContain('<img');
  expect(section).toContain('href="https://beta.example/lid?id=24"');
});

describe('the own shop', () => {
  it('lacks what two others sell', async () => {
    const { intro, cells } = (await readSections({ ownSite: 1n }))('gaps');
    expect(intro).toBe('Alpha does not list 2 products that 2 or more other shops sell in one currency.');
    expect(cells.map(([product, , ...rest]) => [product, ...rest])).toEqual([
      ['&lt;img src=x onerror=alert(1)&gt; lid', '2', '5.00 EUR Beta', '5.50 EUR', '6.00 EUR', '12 Nov 2026', '–'],
      ['Urn urn', '2', '8.50 EUR Beta', '10.25 EUR', '12.00 EUR', '1 Nov 2026', '–'],
    ]);
    const all = (await readSections({ ownSite: 3n, minShops: 3 }))('gaps');
    expect(all.intro).toBe('茶店 lists every product that 3 or more other shops sell.');
    expect((await readSections())('gaps').section).toBe('');
    await expect(readSections({ ownSite: 9n })).rejects.toThrow('--own-site 9: no site_id of table sites');
  });

  it('sees who went below its lowest prices, since when, and who was first', async () => {
    const list = path.join(folder, 'mine.csv');
    await writeFile(list, 'product,price,lowest\nurn,13,9.5\nlid,7,4.5\n');
    const { intro, section, cells } = (await readSections({ list, ownSite: 1n }))('compliance');
    expect(intro).toBe('2 shops went below your lowest prices 3 times. 1 of these lasts.');
    expect(section).toContain('href="https://beta.example/lid"');
    expect(cells.map((row) => row.join(' | '))).toEqual([
      'Urn urn | Beta first | 20 Nov 2026 | now | 0.1 | 9.50 EUR | 8.50 EUR | 1.00 EUR | –',
      'Urn urn | 茶店 first | 1 Nov 2026 or before | 18 Nov 2026 | 17.3 | 9.50 EUR | 9.25 EUR | 0.25 EUR | –',
      '&lt;img src=x onerror=alert(1)&gt; lid | Beta first | 1 Nov 2026 | 10 Nov 2026 | 9.5 | 4.50 EUR | 4.00 EUR | 0.50 EUR | –',
    ]);
    await writeFile(list, 'product,price,lowest\nurn,13,11\n');
    const follower = (await readSections({ list }))('compliance').cells.map((row) => row.slice(1, 4).join(' | '));
    expect(follower).toEqual([
      'Beta first | 1 Nov 2026 or before | now',
      '茶店 after Beta | 1 Nov 2026 or before | 18 Nov 2026',
    ]);
    // Its own offers are left out.
    await writeFile(list, 'product,price,lowest\nurn,13,9.5\nlid,7,4.5\n');
    const own = (await readSections({ list, ownSite: 2n }))('compliance');
    expect(own.intro).toBe('1 shop went below your lowest prices 1 time. None of them is below now.');
    await writeFile(list, 'product,price\nurn,13\n');
    expect((await readSections({ list }))('compliance').section).toBe('');
    await writeFile(list, 'product,price,lowest\nurn,13,1\n');
    expect((await readSections({ list }))('compliance').intro).toMatch(/^No shop is or was below/u);
  });
});
