import { openStory, type Story } from '../front/story.js';

const category = (slug: string, name: string) => ({ slug, name, path: name, source: 'MANUAL' as const });
const AUDIO = category('audio', 'Audio');
const OFFICE = category('office', 'Office');

export const RADIO = '4006381333931';

/** The reader's own list: the radio, which others undercut, and the lamp, which rivals have none of. */
export const OWN_LIST = `product,price,currency,lowest
${RADIO},99.00,EUR,80.00
4006381333948,30.00,EUR,
4006381333955,10.00,EUR,
`;

/**
 * A market whose answers are known. Faults are in it on purpose: the cheapest radio is out of stock, one is mistyped, and one
 * is announced as reduced after its shop had raised it for four days.
 */
export async function tellQuestions(): Promise<Story> {
  const story = await openStory();
  Object.assign(story.pipeline.analysis.attributes, {
    ...{ availability: ['stock'], regularPrice: ['regular'], quantity: ['pack'] },
  });
  story.at('01 00:00');
  const radio = { gtin: RADIO, title: 'Radio Nova', brand: 'Acme', currency: 'EUR', category: AUDIO };
  const inStock = { stock: 'InStock' };
  const kiosk = story.add({ ...radio, siteId: 11n, price: 9_900, attributes: inStock });
  const museum = story.add({ ...radio, siteId: 22n, price: 9_500, attributes: inStock });
  const market = story.add({ ...radio, siteId: 33n, price: 9_700, attributes: { ...inStock, regular: 149 } });
  const depot = story.add({ ...radio, siteId: 44n, price: 7_900, attributes: inStock });
  story.add({ ...radio, siteId: 44n, price: 96, title: 'Radio Nova', attributes: inStock });
  const lamp = { gtin: '4006381333948', title: 'Lamp', brand: 'Lux', currency: 'EUR', category: OFFICE };
  const lamps = [11n, 22n].map((siteId) => story.add({ ...lamp, siteId, price: 2_500, attributes: inStock }));
  const pen = { gtin: '4006381333955', title: 'Pen', brand: 'Ink', currency: 'EUR', category: OFFICE };
  const pens = [11n, 22n, 33n].map((siteId) => story.add({ ...pen, siteId, price: 1_000, attributes: inStock }));
  const changes: [string, (typeof kiosk)[], Parameters<Story['change']>[1]][] = [
    // Museum cuts first, twice, and Kiosk follows.
    ['03 00:00', [museum], { price: 9_300 }],
    ['04 00:00', [kiosk], { price: 9_200 }],
    // Prices of the category Office rise by a tenth.
    ['10 00:00', lamps, { price: 2_750 }],
    ['10 01:00', pens, { price: 1_100 }],
    ['12 00:00', [museum], { price: 8_800 }],
    ['13 00:00', [kiosk], { price: 8_700 }],
    ['14 00:00', [depot], { attributes: { stock: 'SoldOut' } }],
    ['15 00:00', [...lamps], { attributes: { stock: 'SoldOut' } }],
    // Market says "was 149", but asked 97 until it raised the price for four days.
    ['15 00:00', [market], { price: 16_000 }],
    ['19 12:00', [market], { price: 8_400 }],
  ];
  for (const [time, items, values] of changes) {
    story.at(time);
    for (const item of items) story.change(item, values);
  }
  story.at('20 00:00');
  story.change(pens[2] as (typeof pens)[0], { price: 1_050 });
  story.at('20 08:00');
  await story.run();
  return story;
}
