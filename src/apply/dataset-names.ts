/** Begins a text that lists datasets until their names are known: a private-use character, as NUMBER_MARK is. */
export const NAMES_MARK = '\uE0F2';

/** A longer pattern costs more than it finds: then only names that a separator would part are in it. */
const MAX_PATTERN = 100_000;

/**
 * The pattern by which the macro `dataset_names` finds the names that /datasets gives, and those that the lake has from
 * before; null where none is known. Nothing else shows whether `Tools; Garden` is one dataset or two.
 */
export function writeDatasetPattern(names: readonly string[]): string | null {
  const known = [...new Set(names)].filter((name) => name.trim() !== '').sort((a, b) => b.length - a.length);
  if (known.length === 0) return null;
  const pattern = writePattern(known);
  return pattern.length <= MAX_PATTERN ? pattern : writePattern(known.filter((name) => /[;|,]/.test(name)));
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
