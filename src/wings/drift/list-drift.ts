import { isExactName } from '../../tables/item-names.js';
import type { AnswerName } from '../../tables/table.js';
import { DESCRIBED, type DescribedValue, nameKinds } from './described-value.js';
import { joinPath, type SeenField } from './drift-watch.js';

/** A difference between rows from the service and the API document. */
export interface Drift {
  answer: AnswerName;
  /**
   * `unknown`: the API document doesn't mention the field. `missing`: no row contains the field. `type`: values have
   * another JSON type. `precision`: a time is finer than microseconds. `value`: the document doesn't list the string.
   */
  finding: 'unknown' | 'missing' | 'type' | 'precision' | 'value';
  /** The field's name in the rows. If no row contains the field, its name in the API document. */
  field: string;
  /** The JSON types of the values in the rows; null if no row contains the field. */
  found: string | null;
  /** The JSON types in the API document, or for `value`, the strings it lists. Null for an unknown field. */
  described: string | null;
  /** The number of values that differ. `looked_at` is the number of rows, objects or elements that were compared. */
  rows: number;
  looked_at: number;
  sample: string | null;
}

/** A field that may be null counts as missing only if this many rows lack it, because services often omit nulls. */
const TELLING_ROWS = 20;
const MOST_FINDINGS = 100;
const MOST_CHARACTERS = 200;

export function listDrift(seen: ReadonlyMap<AnswerName, SeenField>): Drift[] {
  const all = (Object.keys(DESCRIBED) as AnswerName[]).flatMap((answer) => {
    const row = seen.get(answer);
    if (row === undefined) return [];
    const paths = new Map<string, SeenField>();
    return [...listFound(answer, row, '', row.rows, paths), ...listMissing(answer, row, paths)];
  });
  return all.slice(0, MOST_FINDINGS);
}

/** Lists the unknown fields and the unexpected values in the rows. Adds all fields that the rows contain to `paths`. */
function listFound(
  answer: AnswerName,
  field: SeenField,
  name: string,
  lookedAt: number,
  paths: Map<string, SeenField>,
): Drift[] {
  const { path, described, kinds, members, each, rows, odd } = field;
  const tell = (finding: Drift['finding'], of: SeenField['kinds'], count: number): Drift => ({
    answer,
    finding,
    field: shorten(name),
    found: nameKinds(new Set(of.keys())),
    described: described === undefined ? null : nameKinds(described.kinds),
    rows: count,
    looked_at: lookedAt,
    sample: showSample(of),
  });
  if (path === undefined || described === undefined) return [tell('unknown', kinds, rows)];
  paths.set(path, field);
  const findings = [...kinds]
    .filter(([kind]) => kind !== 'text' && !described.kinds.has(kind))
    .map(([kind, seen]) => tell('type', new Map([[kind, seen]]), seen.rows));
  for (const [finding, seen] of odd) {
    const listed = finding === 'value' ? { described: [...(described.values ?? [])].join('|') } : {};
    findings.push({ ...tell(finding, new Map([['string', seen]]), seen.rows), ...listed });
  }
  const objects = kinds.get('object')?.rows ?? 0;
  const inner = listMembers(members, path).flatMap(([member, seen]) =>
    listFound(answer, seen, joinPath(name, member), objects, paths),
  );
  const elements = each === undefined ? [] : listFound(answer, each, `${name}[]`, each.rows, paths);
  return [...findings, ...inner, ...elements];
}

/**
 * Lists the fields of an object. If several fields stand for the same path, all but one are listed as unknown. The
 * known one is the field whose name is exactly that path or, if there is none, the first field.
 */
function listMembers(members: SeenField['members'], parent: string): [string, SeenField][] {
  const holders = new Map<string | undefined, string>();
  for (const [name, { path }] of members) {
    if (!holders.has(path) || (isExactName(name, parent) && !isExactName(holders.get(path) ?? '', parent)))
      holders.set(path, name);
  }
  return [...members].map(([name, seen]) =>
    holders.get(seen.path) === name ? [name, seen] : [name, { ...seen, path: undefined, described: undefined }],
  );
}

function listMissing(answer: AnswerName, row: SeenField, paths: ReadonlyMap<string, SeenField>): Drift[] {
  const missing: Drift[] = [];
  const visit = (parent: string, described: DescribedValue, lookedAt: number) => {
    for (const [name, member] of described.members ?? []) {
      const path = joinPath(parent, name);
      const field = paths.get(path);
      const isFlat = [...paths.keys()].some((other) => other.startsWith(`${path}.`));
      if (field !== undefined) visitInner(path, member, field);
      else if (isFlat) visit(path, member, lookedAt);
      else if (!member.kinds.has('null') || lookedAt >= TELLING_ROWS) {
        const described = nameKinds(member.kinds);
        const rows = { rows: lookedAt, looked_at: lookedAt };
        missing.push({ answer, finding: 'missing', field: path, found: null, described, ...rows, sample: null });
      }
    }
  };
  const visitInner = (path: string, described: DescribedValue, field: SeenField) => {
    const objects = field.kinds.get('object')?.rows ?? 0;
    if (objects > 0) visit(path, described, objects);
    if (field.each !== undefined && described.each !== undefined) visitInner(`${path}[]`, described.each, field.each);
  };
  if (row.described !== undefined) visitInner('', row.described, row);
  return missing;
}

/** Returns an example of the values. If possible, this is a value other than null. */
function showSample(kinds: SeenField['kinds']): string {
  const [, first] = [...kinds].find(([kind]) => kind !== 'null') ?? [...kinds][0] ?? [];
  return shorten(JSON.stringify(first?.sample ?? null));
}

/**
 * Truncates a text from the service. The text may contain any characters, so control characters are replaced with
 * spaces. Half of a surrogate pair at the cut is replaced with U+FFFD.
 */
function shorten(text: string): string {
  const plain = text.slice(0, MOST_CHARACTERS).replaceAll(/\p{Cc}/gu, ' ');
  return Buffer.from(plain).toString();
}
