import type { Shop } from './shops.js';

const WHOLE = new Set(['CZK', 'RSD']);

/** A price as this shop would set it: amounts in CZK and RSD are whole, others end as the shop's prices do. */
export const setPrice = (amount: number, shop: Pick<Shop, 'country' | 'ending'>): number =>
  roundCents(endPrice(amount, shop), 2);

function endPrice(amount: number, { country, ending }: Pick<Shop, 'country' | 'ending'>): number {
  if (WHOLE.has(country.currency)) {
    if (amount < 100 || ending === 'none') return Math.max(1, Math.round(amount));
    return Math.round((amount + 1) / 10) * 10 - 1;
  }
  if (ending === '9' || (amount < 3 && ending !== 'none'))
    return Math.max(0.09, roundCents((amount + 0.01) / 10, 2) * 10 - 0.01);
  if (ending === 'none') return Math.max(0.05, roundCents(amount, 2));
  return Math.max(0, Math.round(amount - Number(ending))) + Number(ending);
}

/** Half away from zero, to this number of decimals. Money stays below 2^53 cents, where doubles are exact integers. */
export const roundCents = (amount: number, decimals: number): number =>
  Math.round(amount * 10 ** decimals) / 10 ** decimals;

/** Decimal text with two decimals, or three if a parser took a thousands separator for a decimal point. */
export const renderMoney = (amount: number): string =>
  Math.abs(amount * 100 - Math.round(amount * 100)) > 1e-6 ? amount.toFixed(3) : amount.toFixed(2);

/** As a page shows it: `12,99 €`. Shops in English write `€12.99`. */
export function showMoney(amount: number, { country }: Pick<Shop, 'country'>): string {
  const digits = WHOLE.has(country.currency) ? String(Math.round(amount)) : amount.toFixed(2);
  const sign = { EUR: '€', CZK: 'Kč', PLN: 'zł', GBP: '£', BAM: 'KM' }[country.currency] ?? country.currency;
  return country.language === 'en' ? `${sign}${digits}` : `${digits.replace('.', ',')} ${sign}`;
}
