import type { Database } from '../duckdb/connection.js';

/** Begins a text that lists datasets until their names are known: a private-use character, as NUMBER_MARK is. */
export const NAMES_MARK = '\uE0F2';

/** A longer pattern costs more than it finds: then only names that a separator would part are in it. */
const MAX_PATTERN = 100_000;

/**
 * Lets the macro `dataset_names` know the names that /datasets gives, those that the lake has from before included.
 * Nothing else shows whether `Tools; Garden` is one dataset or two.
 */
export async function setDatasetNames(db: Database, names: readonly string[]): Promise<void> {
  const known = [...new Set(names)].filter((name) => name.trim() !== '').sort((a, b) => b.length - a.length);
  const pattern = writePattern(known);
  const short = pattern.length <= MAX_PATTERN ? pattern : writePattern(known.filter((name) => /[;|,]/.test(name)));
  if (known.length === 0) await db.run('RESET VARIABLE dataset_pattern');
  else await db.run('SET VARIABLE dataset_pattern = $1', [short]);
}

/** A known name and the separators at its ends, in a text whose separators are doubled. */
function writePattern(names: readonly string[]): string {
  const texts = names.map((name) =>
    name
      .trim()
      .replaceAll(/[;|,]/g, '$&$&')
      .replaceAll(/[\\^$.*+?()[\]{}|]/g, '\\$&'),
  );
  return `(?:^|[;|,])\\s*(${texts.join('|')})\\s*(?:[;|,]|$)`;
}
