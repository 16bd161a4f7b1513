import { readFileSync, writeFileSync } from 'node:fs';
import type { House } from './measure-house.js';

const RECORDED = 'test/house/recorded.json';

export interface Figure {
  name: string;
  value: number;
  /** The places that a figure counts, for figures that are to become zero. */
  places?: readonly string[];
}

export function tabulateHouse(house: House): Figure[] {
  return [
    { name: 'lines that a run reaches', value: house.lines },
    { name: 'lines that a run reaches with its wings', value: house.wholeLines },
    { name: 'files that a run reaches', value: house.files },
    { name: 'files that know an optional capability', value: house.knowing.length, places: house.knowing },
    { name: 'imports of a later step', value: house.against.length, places: house.against },
    { name: 'members of Run', value: house.members },
    { name: 'functions that take all of Run', value: house.takers },
    { name: 'names that cross folders', value: house.symbols },
    { name: 'files in the longest chain of imports', value: house.chain },
  ];
}

export function readBounds(): Record<string, number> {
  return JSON.parse(readFileSync(RECORDED, 'utf8')) as Record<string, number>;
}

/** Records figures as the new bounds. */
export function recordBounds(figures: readonly Figure[]): void {
  const bounds = Object.fromEntries(figures.map(({ name, value }) => [name, value]));
  writeFileSync(RECORDED, `${JSON.stringify(bounds, undefined, 2)}\n`);
}
