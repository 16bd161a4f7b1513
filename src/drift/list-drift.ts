import type { AnswerName } from '../tables/table.js';
import { DESCRIBED, type DescribedValue, nameKinds } from './described-value.js';
import { joinPath, type SeenField } from './drift-watch.js';

/** A way in which rows are not as the API document describes them. */
export interface Drift {
  answer: AnswerName;
  /**
   * A field that the document does not name; one that it names and no row has; a value of another kind; a time of which
   * only the microseconds are kept; a text that is none of those that the document lists.
   */
  finding: 'unknown' | 'missing' | 'type' | 'precision' | 'value';
  /** As the rows name it, or where none has it, as the document does. */
  field: string;
  /** Kinds of values; null where there are none. Of a text that is not listed, those that are. */
  found: string | null;
  described: string | null;
  /** Rows that showed it, of so many that were looked at. */
  rows: number;
  looked_at: number;
  /** JSON text of a value, cut to 200 characters. */
  sample: string | null;
}

/** A service may leave out what is null: of so few rows, all may have none. */
const TELLING_ROWS = 20;
const MOST_FINDINGS = 100;
const MOST_CHARACTERS = 200;

/** What the rows showed, against the document; the order is that of the answers and their fields. */
export function listDrift(seen: ReadonlyMap<AnswerName, SeenField>): Drift[] {
  const all = (Object.keys(DESCRIBED) as AnswerName[]).flatMap((answer) => {
    const row = seen.get(answer);
    if (row === undefined) return [];
    const paths = new Map<string, SeenField>();
    return [...listFound(answer, row, '', row.rows, paths), ...listMissing(answer, row, paths)];
  });
  return all.slice(0, MOST_FINDINGS);
}

/** Unknown fields and kinds; leaves in `paths` what of the document was seen. */
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
  const inner = [...members].flatMap(([member, seen]) =>
    listFound(answer, seen, joinPath(name, member), objects, paths),
  );
  const elements = each === undefined ? [] : listFound(answer, each, `${name}[]`, each.rows, paths);
  return [...findings, ...inner, ...elements];
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

/** A value that is not empty, if there is one. */
function showSample(kinds: SeenField['kinds']): string {
  const [, first] = [...kinds].find(([kind]) => kind !== 'null') ?? [...kinds][0] ?? [];
  return shorten(JSON.stringify(first?.sample ?? null));
}

/** Names and values are the service's: no control characters, and no half of a character at the cut. */
function shorten(text: string): string {
  const plain = text.slice(0, MOST_CHARACTERS).replaceAll(/\p{Cc}/gu, ' ');
  return Buffer.from(plain).toString();
}
