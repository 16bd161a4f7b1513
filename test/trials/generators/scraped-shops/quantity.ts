/** What one unit of a product contains, in the unit that unit prices are computed from. */
export interface Quantity {
  amount: number;
  unit: 'g' | 'ml' | 'piece';
}

const UNITS: Record<string, Quantity> = {
  g: { amount: 1, unit: 'g' },
  kg: { amount: 1000, unit: 'g' },
  ml: { amount: 1, unit: 'ml' },
  cl: { amount: 10, unit: 'ml' },
  l: { amount: 1000, unit: 'ml' },
  kom: { amount: 1, unit: 'piece' },
};

/** Null if the text is not a positive amount of a unit that is known here. */
export function parseQuantity(text: string | null): Quantity | null {
  const [, digits, name] = /^(\d+(?:\.\d+)?) ?([a-z]+)$/i.exec(text ?? '') ?? [];
  const unit = UNITS[(name ?? '').toLowerCase()];
  if (digits === undefined || unit === undefined || Number(digits) === 0) return null;
  return { amount: Number(digits) * unit.amount, unit: unit.unit };
}

/** One of the spellings that shops use. */
export function spellQuantity({ amount, unit }: Quantity, spelling: number): string {
  const round = (value: number) => String(Math.round(value * 1000) / 1000);
  if (unit === 'piece') return `${round(amount)} ${['kom', 'Stk.', 'ks', 'szt.', 'pz', 'pcs'][spelling % 6]}`;
  const [small, large] = unit === 'g' ? ['g', 'kg'] : ['ml', 'L'];
  return [
    `${round(amount)}${small}`,
    `${round(amount)} ${small}`,
    `${round(amount / 1000).replace('.', ',')} ${large}`,
    `${round(amount / 1000)}${large}`,
    `${(amount / 1000).toFixed(2)} ${large}`,
    amount < 1000 ? `${round(amount)} ${small.toUpperCase()}` : `${round(amount / 1000)} ${large}`,
  ][spelling % 6] as string;
}
