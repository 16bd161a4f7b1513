/** Returns the known name that is most similar to a mistyped or shortened name; undefined if none is similar enough. */
export function suggestName(given: string, known: Iterable<string>): string | undefined {
  const typed = given.toLowerCase();
  let best: { name: string; distance: number } | undefined;
  let longer: string | undefined;
  for (const name of known) {
    const distance = measureEditDistance(typed, name.toLowerCase());
    if (best === undefined || distance < best.distance) best = { name, distance };
    if (name.toLowerCase().startsWith(typed) && name.length < (longer?.length ?? Infinity)) longer = name;
  }
  const allowed = Math.max(1, Math.floor(given.length / 3));
  if (best !== undefined && best.distance <= allowed) return best.name;
  return given.length >= SHORTEST_START ? longer : undefined;
}

const SHORTEST_START = 3;

/** Returns the minimum number of insertions, deletions, substitutions and swaps of neighbors that change `a` to `b`. */
function measureEditDistance(a: string, b: string): number {
  const rows: number[][] = [Array.from({ length: b.length + 1 }, (_, j) => j)];
  const at = (i: number, j: number): number => rows[i]?.[j] ?? Number.POSITIVE_INFINITY;
  for (let i = 1; i <= a.length; i += 1) {
    const row = [i];
    rows.push(row);
    for (let j = 1; j <= b.length; j += 1) {
      const same = a[i - 1] === b[j - 1] ? 0 : 1;
      const swapped =
        i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1] ? at(i - 2, j - 2) + 1 : Infinity;
      row.push(Math.min(at(i - 1, j) + 1, at(i, j - 1) + 1, at(i - 1, j - 1) + same, swapped));
    }
  }
  return at(a.length, b.length);
}
