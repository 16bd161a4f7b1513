/** Values → JSON text in a service's own habit of writing it. */
import type { Seeded } from '../seeded.js';
import type { Habits } from './habits.js';

/** Cents of a price: how its number is written is a habit. */
export class Money {
  readonly cents: number;
  constructor(cents: number) {
    this.cents = cents;
  }
}

export type Wire = string | number | bigint | boolean | null | Money | Wire[] | { [name: string]: Wire };

export type WriteJson = (value: Wire) => string;

export function createWriter(habits: Habits, random: Seeded): Record<'page' | 'line' | 'cell', WriteJson> {
  const leaveOut = habits.nullsLeftOut === 'everywhere';
  const write = (value: Wire, indent: string | undefined, keepsNulls = !leaveOut): string => {
    if (value === null || typeof value === 'boolean' || typeof value === 'number') return String(value);
    if (typeof value === 'bigint') return String(value);
    if (typeof value === 'string') return writeText(value, habits.escaped);
    if (value instanceof Money) return writeMoney(value.cents, habits.numbers);
    const inner = indent === undefined ? undefined : `${indent}  `;
    const [open, between, close] = indent === undefined ? ['', ',', ''] : [`\n${inner}`, `,\n${inner}`, `\n${indent}`];
    if (Array.isArray(value)) {
      return value.length === 0 ? '[]' : `[${open}${value.map((v) => write(v, inner)).join(between)}${close}]`;
    }
    const present = Object.entries(value).filter(([, member]) => member !== null || keepsNulls);
    const entries = habits.shuffledKeys ? shuffle(present, random) : present;
    if (entries.length === 0) return '{}';
    const colon = indent === undefined ? ':' : ' : ';
    // Maps of values by name are no resources: their nulls are values.
    const members = entries.map(
      ([k, v]) => `${writeText(k, false)}${colon}${write(v, inner, keepsNulls || k === 'attributes')}`,
    );
    return `{${open}${members.join(between)}${close}}`;
  };
  // A cell of CSV stands by itself: which field it is, it does not say.
  return {
    page: (value) => write(value, habits.pretty ? '' : undefined),
    line: (value) => write(value, undefined),
    cell: (value) => write(value, undefined, true),
  };
}

function writeText(text: string, escaped: boolean): string {
  const json = JSON.stringify(text);
  if (!escaped) return json;
  // By code unit: what is beyond the basic plane becomes a surrogate pair.
  return [...Array(json.length).keys()]
    .map((i) => (json.charCodeAt(i) > 126 ? `\\u${json.charCodeAt(i).toString(16).padStart(4, '0')}` : json.charAt(i)))
    .join('');
}

function writeMoney(cents: number, numbers: Habits['numbers']): string {
  const fixed = (cents / 100).toFixed(2);
  if (numbers === 'padded') return fixed;
  if (numbers === 'exponent') return `${cents}e-2`;
  return String(Number(fixed));
}

export function shuffle<T>(list: T[], random: Seeded): T[] {
  const shuffled = [...list];
  for (let i = shuffled.length - 1; i > 0; i--) {
    const j = random.integer(i + 1);
    [shuffled[i], shuffled[j]] = [shuffled[j] as T, shuffled[i] as T];
  }
  return shuffled;
}
