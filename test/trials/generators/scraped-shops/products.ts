import type { Draw } from '../../draw.js';
import type { BaseProduct } from '../../trial.js';
import { parseQuantity, type Quantity } from './quantity.js';

export interface Product {
  gtin: string | null;
  brand: string | null;
  mpn: string | null;
  title: string;
  euros: number;
  quantity: Quantity | null;
  /** Prices of some products differ more between shops than those of others. */
  spread: number;
}

/** Products without a barcode have a part number, and so do most devices and some others. */
export function describeProduct({ gtin, brand, title, price, quantity }: BaseProduct, draw: Draw): Product {
  const contents = parseQuantity(quantity);
  const hasPartNumber = gtin === null || draw.chance(contents === null ? 0.9 : 0.15);
  return {
    gtin,
    brand,
    title,
    mpn: hasPartNumber ? `${draw.text('ABCDEFGHKLMNPRSTUVWXZ', 2)}${draw.text('0123456789', 6)}` : null,
    euros: Number(price),
    quantity: contents,
    spread: draw.pick([0.5, 0.8, 1, 1, 1.3, 2]),
  };
}
