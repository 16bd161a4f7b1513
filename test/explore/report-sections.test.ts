import { readFile, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { writeReport } from '../../src/cli/actions/write-report.js';
import { publishLake } from '../cli/lake-fixture.js';
import { act, openContext } from '../cli/open-context.js';

const at = (time: string) => `TIMESTAMPTZ '2026-11-${time}:00:00Z'`;
const HOSTILE = "'<img src=x onerror=alert(1)>'";
const seen = { last_seen_at: at('20 08'), first_seen_at: at('01 00'), gtin: 'NULL', gtin14: 'NULL', title: "'Urn'" };

/** In addition to the fixture's kettles: an urn whose price fell and rose, and whose listings began and ended, and a lid under a new address. */
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

/** Cells of the tables of a part of the report, by the caption of each. */
async function readReport(request: Partial<Parameters<typeof writeReport>[0]> = {}) {
  const output = path.join(folder, 'report.html');
  await act(writeReport, { lake, output, top: 50, ...request }, openContext());
  const page = await readFile(output, 'utf8');
  return (id: string) => {
    const [part = ''] = new RegExp(`<article id="${id}".*?</article>`, 'su').exec(page) ?? [];
    const tables = [...part.matchAll(/<caption><span>(.*?)<\/span>(.*?)<\/table>/gsu)].map(
      ([, caption = '', rows = '']) => {
        const cells = [...rows.matchAll(/<tr role="row">(.*?)<\/tr>/gsu)]
          .slice(1)
          .map(([, row = '']) =>
            [...row.matchAll(/<t[hd] [^>]*>(.*?)<\/t[hd]>/gsu)].map(([, cell = '']) =>
              cell.replaceAll(/<[^>]+>/gu, '').trim(),
            ),
          );
        return [caption, cells] as const;
      },
    );
    const find = (words: string) => tables.filter(([caption]) => caption.includes(words)).flatMap(([, cells]) => cells);
    return { part, find, text: part.replaceAll(/<[^>]+>/gu, ' ').replaceAll(/\s+/gu, ' ') };
  };
}

describe("the report's list of moves", () => {
  it('covers the day before the newest data, with the shop’s position before and after', async () => {
    const { part, text, find } = (await readReport())('today');
    expect(text).toContain('Falls 1 Rises 0 New 0 Back 0 Removed 0 Gone 0');
    expect(find('The largest of 1')).toEqual([
      ['Urn', '', 'Beta', '10.00', '8.50', 'EUR', '-15.0\u00a0%', '1', '1', '2', '20 Nov 2026, 06:00'],
    ]);
    // Not an address of the web.
    expect(part).not.toContain('javascript:');
  });

  it('can start at a time or a run', async () => {
    const { text, find } = (await readReport({ since: { time: '2026-11-11T00:00:00Z' } }))('today');
    expect(text).toContain('Falls 1 Rises 1 New 1 Back 0');
    expect(find('The largest of').map(([title, , shop]) => `${title} ${shop}`)).toEqual([
      'Urn Beta',
      'Urn 茶店',
      '&lt;img src=x onerror=alert(1)&gt; Beta',
    ]);
    const none = (await readReport({ since: { time: '2026-11-20T07:00:00Z' } }))('today');
    expect(none.text).toContain('No price or listing of a product moved.');
    const run = (await readReport({ since: { run: 1n } }))('today');
    expect(run.text).toContain('Falls 0 Rises 0 New 4');
    const all = (await readReport({ since: { run: 0n } }))('today');
    expect(all.text).toContain('Falls 0 Rises 0 New 7');
    await expect(readReport({ since: { run: 7n } })).rejects.toMatchObject({
      code: 'usage',
      message: "--since 7: the lake doesn't have this run",
    });
  });
});

describe('the own shop in the report', () => {
  it('is shown the products that at least two other shops sell', async () => {
    const { find } = (await readReport({ ownSite: 1n }))('own-shop');
    expect(find('What two or more other shops')).toEqual([
      ['&lt;img src=x onerror=alert(1)&gt;', '2', '5.00', 'Beta', '5.50', 'EUR', '12 Nov 2026, 00:00'],
      ['Urn', '2', '8.50', 'Beta', '10.25', 'EUR', '1 Nov 2026, 00:00'],
    ]);
    const { text } = (await readReport({ ownSite: 1n }))('own-shop');
    expect(text).toContain('Who moves first No pair of shops followed one another five times.');
    expect((await readReport())('own-shop').part).toBe('');
    await expect(readReport({ ownSite: 9n })).rejects.toThrow('--own-site 9: not a site_id in the sites table');
  });

  it('is shown its listings that continue others', async () => {
    const { find, part } = (await readReport({ ownSite: 2n }))('own-shop');
    expect(find('New listings that may continue')).toEqual([
      [
        ...['&lt;img src=x onerror=alert(1)&gt;', '&lt;img src=x onerror=alert(1)&gt;', 'product, title, path'],
        ...['10 Nov 2026, 12:00', '12 Nov 2026, 00:00', '4.00', 'EUR', '5.00', '25.0\u00a0%', 'no', 'open'],
      ],
    ]);
    expect(part).not.toContain('<img');
    expect(part).toContain('href="https://beta.example/lid?id=24"');
  });

  it('is shown which shops went below its lowest prices, and since when', async () => {
    const list = path.join(folder, 'mine.csv');
    await writeFile(list, 'product,price,lowest\nurn,13,9.5\nlid,7,4.5\n');
    const { find } = (await readReport({ list, ownSite: 1n }))('list');
    const breaches = find('Every time that a shop was below one').map((row) => row.join(' | '));
    expect(breaches).toHaveLength(3);
    for (const price of ['8.50', '9.25', '4.00']) expect(breaches.some((row) => row.includes(price))).toBe(true);
    // The own shop's offers are omitted.
    const own = (await readReport({ list, ownSite: 2n }))('list').find('Every time that a shop was below one');
    expect(own).toHaveLength(1);
    await writeFile(list, 'product,price,lowest\nurn,13,1\n');
    expect((await readReport({ list }))('list').text).toContain('No shop was below a lowest allowed price');
  });
});
