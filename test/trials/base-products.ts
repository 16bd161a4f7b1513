import { createReadStream } from 'node:fs';
import { createInterface } from 'node:readline';
import { createGunzip } from 'node:zlib';
import { createDraw, type Draw } from './draw.js';
import { LANGUAGES, nameGood } from './lexicon.js';
import type { BaseProduct } from './trial.js';

/** The fields of a recorded item that a base product is made of. Ids are not among them, so `JSON.parse` loses nothing. */
interface RecordedItem {
  title: string | null;
  brand: string | null;
  gtin: string | null;
  price: number | null;
  currency: string | null;
  attributes: { quantity?: number; unit?: string };
}

/**
 * The products of a recorded catalog: NDJSON of the API's items, gzipped if the path ends in `.gz`. Offers in EUR are
 * grouped by barcode. The price is their lower median; title, brand and quantity are those of the offer that has it.
 * A barcode with a wrong check digit, or one for use within a shop, may mean several products, so its offers are left out.
 */
export async function readBaseProducts(path: string): Promise<BaseProduct[]> {
  const file = createReadStream(path);
  const lines = createInterface({ input: path.endsWith('.gz') ? file.pipe(createGunzip()) : file });
  const groups = new Map<string, RecordedItem[]>();
  for await (const line of lines) {
    const item = JSON.parse(line) as RecordedItem;
    const gtin = normalizeGtin(item.gtin);
    if (gtin === null || item.title === null || item.price === null || item.currency !== 'EUR') continue;
    const group = groups.get(gtin);
    if (group === undefined) groups.set(gtin, [item]);
    else group.push(item);
  }
  return [...groups].map(([gtin, items]) => {
    const sorted = items.sort((a, b) => (a.price as number) - (b.price as number));
    const { title, brand, price, attributes } = sorted[(sorted.length - 1) >> 1] as RecordedItem;
    const { quantity, unit } = attributes;
    return {
      gtin,
      brand,
      title: title as string,
      price: (price as number).toFixed(2),
      quantity: quantity === undefined || unit === undefined ? null : `${quantity} ${unit}`,
    };
  });
}

/** 13 digits (8 for a short code), or null if the text is not the barcode of one product in every shop. */
function normalizeGtin(text: string | null): string | null {
  if (text === null || !/^(\d{8}|\d{12,14})$/.test(text)) return null;
  const digits = text.length === 8 ? text : text.padStart(14, '0').slice(1);
  const isBox = text.length === 14 && !text.startsWith('0');
  const isInternal = /^(02|04|2)/.test(digits);
  return isBox || isInternal || computeCheckDigit(digits.slice(0, -1)) !== Number(digits.at(-1)) ? null : digits;
}

/** GS1: the digits weigh 3, 1, 3, 1 and so on, from the right. */
export function computeCheckDigit(digits: string): number {
  const sum = [...digits]
    .reverse()
    .reduce((total, digit, place) => total + Number(digit) * (place % 2 === 0 ? 3 : 1), 0);
  return (10 - (sum % 10)) % 10;
}

/** Made-up goods: English word, lowest and highest typical price in EUR, contents of one unit. */
type Good = [good: string, low: number, high: number, quantities: string[]];

const GOODS: Good[] = [
  ['coffee', 3, 14, ['250 g', '500 g', '1 kg']],
  ['tea', 1.5, 6, ['20 kom', '50 g', '100 g']],
  ['juice', 1, 4, ['1 L', '0.2 L', '1.5 L']],
  ['beer', 0.8, 3, ['0.5 L', '0.33 L']],
  ['wine', 4, 25, ['0.75 L', '1 L']],
  ['water', 0.4, 1.5, ['0.5 L', '1.5 L']],
  ['oil', 2, 18, ['1 L', '500 ml', '0.75 L']],
  ['chocolate', 1, 6, ['100 g', '300 g', '80 g']],
  ['biscuits', 1, 4, ['250 g', '150 g']],
  ['pasta', 0.9, 3.5, ['500 g', '400 g']],
  ['rice', 1.2, 5, ['1 kg', '500 g']],
  ['honey', 4, 12, ['450 g', '900 g']],
  ['cheese', 2, 9, ['150 g', '400 g']],
  ['yoghurt', 0.5, 2, ['150 g', '500 g']],
  ['shampoo', 2, 15, ['250 ml', '400 ml']],
  ['cream', 3, 60, ['50 ml', '200 ml']],
  ['soap', 1, 5, ['100 g', '300 ml']],
  ['detergent', 5, 20, ['1.5 L', '2 L', '3 kg']],
  ['capsules', 3, 25, ['10 kom', '30 kom', '60 kom']],
  ['nappies', 9, 40, ['44 kom', '96 kom']],
  ['perfume', 25, 140, ['30 ml', '50 ml', '100 ml']],
  ['drill', 45, 320, []],
  ['sander', 40, 250, []],
  ['vacuum cleaner', 80, 700, []],
  ['washing machine', 300, 1400, []],
  ['fridge', 280, 1800, []],
  ['TV', 250, 2600, []],
  ['laptop', 400, 2400, []],
  ['smartphone', 150, 1500, []],
  ['headphones', 20, 380, []],
  ['keyboard', 20, 220, []],
  ['monitor', 110, 900, []],
  ['printer', 60, 450, []],
  ['bicycle', 300, 3200, []],
  ['running shoes', 50, 180, []],
  ['backpack', 25, 160, []],
  ['frying pan', 15, 110, []],
  ['knife', 10, 150, []],
  ['lamp', 12, 200, []],
  ['coffee machine', 50, 1300, []],
  ['lawn mower', 120, 900, []],
  ['watch', 40, 600, []],
  ['toy', 6, 90, []],
];

const VARIANTS = ['Classic', 'Premium', 'Bio', 'Extra', 'Pro', 'Plus', 'Mini', 'Original', 'Sensitive', 'Max', ''];
const FLAVOURS = ['orange', 'apple', 'strawberry', 'lemon', 'vanilla', 'hazelnut'];
const COLORS = ['black', 'white', 'blue'];

/** Made-up products that resemble real ones, for runs without a recorded catalog. */
export function inventBaseProducts(count: number, seed: number): BaseProduct[] {
  const draw = createDraw(seed);
  // A brand makes a few kinds of goods that lie near each other in the list.
  const brands = Array.from({ length: Math.max(4, count >> 3) }, () => {
    const first = draw.integer(GOODS.length - 2);
    return { name: inventBrand(draw), goods: GOODS.slice(first, first + 3) };
  });
  return Array.from({ length: count }, (_, place) => {
    const { name, goods } = draw.pick(brands);
    return inventProduct(draw, name, draw.pick(goods), place);
  });
}

function inventProduct(draw: Draw, brand: string, [good, low, high, quantities]: Good, place: number): BaseProduct {
  const language = draw.pick(LANGUAGES);
  const quantity = quantities.length === 0 ? null : draw.pick(quantities);
  const model = `${draw.text('ABCDEGKLMPRSTVX', 2)}${draw.text('123456789', 1)}${draw.text('0123456789', 2)}`;
  const parts =
    quantity === null
      ? [brand, nameGood(good, language), model, nameGood(draw.pick(COLORS), language)]
      : [brand, nameGood(good, language), draw.pick(VARIANTS), nameGood(draw.pick(FLAVOURS), language), quantity];
  const digits = `${draw.pick(['385', '400', '859', '590', '800', '301', '501', '871'])}${1000 + place}${draw.text('0123456789', 5)}`;
  return {
    gtin: draw.chance(0.06) ? null : `${digits}${computeCheckDigit(digits)}`,
    brand,
    title: parts.filter((part) => part !== '').join(' '),
    // Cheap products are more numerous than expensive ones.
    price: (low * (high / low) ** draw.fraction()).toFixed(2),
    quantity,
  };
}

function inventBrand(draw: Draw): string {
  const syllable = () => draw.text('bdfgklmnprstvz', 1) + draw.text('aeiou', 1);
  const name = Array.from({ length: 2 + draw.integer(2) }, syllable).join('') + draw.pick(['', 'n', 'x', 'l', 'tec']);
  return `${(name[0] as string).toUpperCase()}${name.slice(1)}`;
}
