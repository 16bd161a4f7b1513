import type { AnswerName, LookAtRow } from '../../tables/table.js';
import { DESCRIBED, type DescribedValue, type JsonKind } from './described-value.js';

export interface SeenField {
  /** The field's path in the API document, such as `site.id`. Undefined if the document doesn't mention the field. */
  path: string | undefined;
  described: DescribedValue | undefined;
  /** The number of values of the field in the responses. */
  rows: number;
  /** For each JSON type, the number of values and the first value. */
  kinds: Map<JsonKind, { rows: number; sample: unknown }>;
  /** Unexpected values: times finer than microseconds (`precision`), and strings that aren't listed (`value`). */
  odd: Map<'precision' | 'value', { rows: number; sample: string }>;
  members: Map<string, SeenField>;
  each: SeenField | undefined;
}

/**
 * Returns the path of a field in the API document, or undefined if the document doesn't mention the field. `parent` is
 * the path of the object that contains the field. It is empty if the row itself contains the field.
 */
type FindPath = (parent: string, name: string) => string | undefined;

/** The maximum number of fields to count in each object, because the service may send any number of names. */
const MOST_FIELDS = 500;

/** Matches a fraction of a second that has more than six significant digits. */
const FINER = /\.\d{6}\d*[1-9]/;

/** For each kind of response, counts the fields in the rows of a run and the JSON types of their values. */
export class DriftWatch {
  readonly seen = new Map<AnswerName, SeenField>();
  readonly #findPaths: Partial<Record<AnswerName, FindPath>>;

  /** @param findPaths finds paths for the responses whose fields may be named differently in the API document */
  constructor(findPaths: Partial<Record<AnswerName, FindPath>> = {}) {
    this.#findPaths = findPaths;
  }

  /** Counts the fields of a parsed row. Large numbers in the row may have been rounded. */
  readonly look: LookAtRow = (answer, row, format) => {
    if (typeof row !== 'object' || row === null || Array.isArray(row)) return; // such a row is rejected later
    const seen = this.seen.get(answer) ?? newField('', DESCRIBED[answer]);
    if (seen.rows === 0) this.seen.set(answer, seen);
    this.#count(seen, row, this.#findPaths[answer] ?? findExactly, format === 'csv');
  };

  #count(field: SeenField, value: unknown, findPath: FindPath, isCsv: boolean): void {
    const kind = kindOf(value, isCsv);
    const seen = field.kinds.get(kind);
    field.rows++;
    if (seen === undefined) field.kinds.set(kind, { rows: 1, sample: value });
    else {
      seen.rows++;
      seen.sample ??= value;
    }
    const { path, described } = field;
    if (typeof value === 'string') countOdd(field, value);
    if (described === undefined || path === undefined || typeof value !== 'object' || value === null) return;
    if (described.each !== undefined) {
      field.each ??= newField(`${path}[]`, described.each);
      for (const one of Object.values(value)) this.#count(field.each, one, findPath, false);
    } else if (described.members !== undefined && !Array.isArray(value)) {
      for (const [name, member] of Object.entries(value)) {
        const child = this.#member(field, name, findPath);
        if (child !== undefined) this.#count(child, member, findPath, isCsv && path === '');
      }
    }
  }

  #member(parent: SeenField, name: string, findPath: FindPath): SeenField | undefined {
    const known = parent.members.get(name);
    if (known !== undefined || parent.members.size >= MOST_FIELDS) return known;
    const path = findPath(parent.path ?? '', name);
    const field = newField(path, path === undefined ? undefined : findDescribed(parent, path));
    if (field.described === undefined) field.path = undefined;
    parent.members.set(name, field);
    return field;
  }
}

function countOdd({ described, odd }: SeenField, text: string): void {
  const isFiner = described?.isTime === true && FINER.test(text);
  const isUnlisted = described?.values?.has(text) === false;
  if (!isFiner && !isUnlisted) return;
  const finding = isFiner ? 'precision' : 'value';
  const { rows = 0, sample = text } = odd.get(finding) ?? {};
  odd.set(finding, { rows: rows + 1, sample });
}

function newField(path: string | undefined, described: DescribedValue | undefined): SeenField {
  return { path, described, rows: 0, kinds: new Map(), odd: new Map(), members: new Map(), each: undefined };
}

const findExactly: FindPath = (parent, name) => joinPath(parent, name);

export function joinPath(parent: string, name: string): string {
  return parent === '' ? name : `${parent}.${name}`;
}

/** Returns the description of the field at `path`, which starts with the parent's path; undefined if there is none. */
function findDescribed(parent: SeenField, path: string): DescribedValue | undefined {
  const below = parent.path === '' || parent.path === undefined ? path : path.slice(parent.path.length + 1);
  if (parent.described?.members?.has(below) === true) return parent.described.members.get(below);
  // A flattened name such as `siteId` stands for `site.id`. Its value may be null, because an item may have no site.
  const [first = '', ...rest] = below.split('.');
  const object = parent.described?.members?.get(first);
  const member = object?.members?.get(rest.join('.'));
  if (member === undefined || object?.kinds.has('null') !== true) return member;
  return { ...member, kinds: new Set([...member.kinds, 'null']) };
}

function kindOf(value: unknown, isCsv: boolean): JsonKind {
  if (isCsv && (value === null || typeof value === 'string')) return 'text';
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'array';
  if (typeof value === 'number') return Number.isInteger(value) ? 'integer' : 'number';
  if (typeof value === 'string') return 'string';
  return typeof value === 'boolean' ? 'boolean' : 'object';
}
