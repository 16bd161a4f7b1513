import type { Draw } from '../../draw.js';
import { translateTitle } from '../../lexicon.js';
import type { Product } from './products.js';
import { spellQuantity } from './quantity.js';
import type { Shop } from './shops.js';
import { pickPhrase } from './words.js';

/** The title of an honest offer: the shop's habit, and the accidents of single pages. Null for a page without a title. */
export function writeTitle(product: Product, shop: Shop, draw: Draw): string | null {
  if (draw.chance(0.003)) return null;
  const translated = draw.chance(0.8) ? translateTitle(product.title, shop.country.language) : product.title;
  const title = followHabit(translated, product, shop, draw);
  if (draw.chance(0.04)) return `${title} ${pickPhrase('praise', shop.country.language, draw)}`;
  if (draw.chance(0.03)) return `${title} | ${shop.name}`;
  if (draw.chance(0.03)) return `${title} (${draw.text('0123456789', 6)})`;
  if (draw.chance(0.03)) return stripMarks(title);
  if (draw.chance(0.02)) return title.replace('&', '&amp;').replace(/[čćžšđ]/g, (letter) => readAsLatin1(letter));
  if (draw.chance(0.02)) return swapLetters(title, draw);
  return title;
}

function followHabit(title: string, product: Product, shop: Shop, draw: Draw): string {
  switch (shop.titles) {
    case 'as printed':
      return title;
    case 'shouted':
      return title.toUpperCase();
    case 'brand first':
      return withBrand(title, product);
    case 'without brand':
      return withoutBrand(title, product);
    case 'with quantity':
      return withQuantity(withBrand(title, product), product, draw);
    case 'reordered':
      return reorder(withQuantity(title, product, draw), draw);
    case 'abbreviated':
      return abbreviate(title);
  }
}

const withBrand = (title: string, { brand }: Product): string =>
  brand === null || title.toLowerCase().includes(brand.toLowerCase()) ? title : `${brand} ${title}`;

function withoutBrand(title: string, { brand }: Product): string {
  if (brand === null) return title;
  const rest = title
    .split(' ')
    .filter((word) => !brand.toLowerCase().split(' ').includes(word.toLowerCase()))
    .join(' ');
  return rest === '' ? title : rest;
}

/** A title that already has an amount keeps it: shops don't write two. */
function withQuantity(title: string, { quantity }: Product, draw: Draw): string {
  if (quantity === null || /\d ?(k?g|[mc]?l|kom)\b/i.test(title)) return title;
  const amount = spellQuantity(quantity, draw.integer(6));
  return draw.chance(0.5) ? `${title} ${amount}` : `${title}, ${amount}`;
}

function reorder(title: string, draw: Draw): string {
  // An amount and its unit stay together.
  const words = title.match(/\d[\d.,]* (?:k?g|[mc]?l|kom|ks|pz|pcs|szt\.|Stk\.)(?= |$)|\S+/gi) ?? [title];
  const cut = 1 + draw.integer(Math.max(1, words.length - 1));
  return [...words.slice(cut), ...words.slice(0, cut)].join(' ');
}

/** As the till's receipt has it: long words end after four letters and a point. */
const abbreviate = (title: string): string =>
  title
    .split(' ')
    .map((word) => (word.length > 6 && /^\p{L}+$/u.test(word) ? `${word.slice(0, 4)}.` : word))
    .join(' ');

const stripMarks = (title: string): string => title.normalize('NFD').replace(/\p{M}/gu, '').replaceAll('đ', 'd');

const readAsLatin1 = (letter: string): string => Buffer.from(letter, 'utf8').toString('latin1');

function swapLetters(title: string, draw: Draw): string {
  if (title.length < 4) return title;
  const place = 1 + draw.integer(title.length - 3);
  return `${title.slice(0, place)}${title[place + 1]}${title[place]}${title.slice(place + 2)}`;
}
