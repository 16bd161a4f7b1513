/** The plain floor: SQL as a user would write it, in the files beside this one. Nothing here comes from the package. */
import { readFileSync } from 'node:fs';

const BEGIN = `SET TimeZone = 'UTC';
SET preserve_insertion_order = false;
`;
const read = (name: string) => readFileSync(new URL(`${name}.sql`, import.meta.url), 'utf8');

function fill(name: string, places: Record<string, string>): string {
  const text = read(name).replaceAll(/\$(\w+)/g, (_match, place: string) => {
    const value = places[place];
    if (value === undefined) throw new Error(`${name}.sql: $${place} is not given`);
    return value.replaceAll("'", "''");
  });
  return `${BEGIN}${read('items')}${text}`;
}

export function firstCopySql(source: string, target: string): string {
  return fill('first-copy', { source, target });
}

/** The files that the changes script reads, and the folder it writes. */
export interface ChangesPlaces {
  /** A downloaded NDJSON file of changes. */
  source: string;
  /** Glob of the files of items that were read in full. */
  reread: string;
  /** Folder of the items before the changes. */
  items: string;
  target: string;
}

export function changesSql(places: ChangesPlaces): string {
  return fill('changes', { ...places });
}
