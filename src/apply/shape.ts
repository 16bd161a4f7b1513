import { PricelakeError } from '../io/errors.js';
import { quoteIdentifier, quoteLiteral } from '../sql/quote.js';
import {
  BY_FOLDED_NAME,
  fold,
  ITEM_VALUE_NAMES,
  ITEM_VALUES,
  type ItemPath,
  type ItemValue,
  isParent,
  type Mapping,
  PARENTS,
  PATHS,
  translate,
} from '../tables/item-names.js';

/**
 * The place of each value of an item in a landed row. The API document shows the names of Item, but not those of an
 * export row. All sensible spellings are recognized: nested like Item, or flat (`siteId`, `site_id`, `site.id`).
 */
export interface Shape {
  /** DuckDB type of every top-level field to read, by name. In CSV all are text. */
  fields: Map<string, string>;
  /** Canonical value → SQL over those fields. Lacks the values that CSV has no column for. */
  values: Map<ItemValue, string>;
  /** Those of `attributes` and `datasets` that flat rows hold as text: JSON, or a list of names. */
  texts: Set<ItemValue>;
  /** Fields that the document does not name: name in `extra` → SQL of its JSON, in CSV of its text or JSON. */
  unknown: Map<string, string>;
  /** Fields that CSV holds as the text of a JSON object. */
  objects: Set<string>;
}

/** Rows of JSON have types, those of CSV are all text. */
export type RowKind = 'json' | 'csv';

/** Facts about a top-level field from a sample of rows. */
export interface ObservedField {
  subfields: Set<string>;
  /** True if a value was neither null nor an object. */
  isScalar: boolean;
}
export type ObservedFields = Map<string, ObservedField>;

/** Adds the fields of one parsed row. */
export function observeRow(observed: ObservedFields, row: unknown, mapping: Mapping = {}): void {
  if (typeof row !== 'object' || row === null || Array.isArray(row)) return;
  for (const [name, value] of Object.entries(row)) {
    if (name === '') continue; // no column can have it
    const field = observed.get(name) ?? { subfields: new Set<string>(), isScalar: false };
    observed.set(name, field);
    if (typeof value !== 'object') field.isScalar = true;
    else if (value !== null && isParent(name, mapping)) {
      for (const subfield of Object.keys(value)) if (subfield !== '') field.subfields.add(subfield);
    }
  }
}

type Style = (path: string) => string;

const camel: Style = (path) => path.replaceAll(/\.(\w)/g, (_match, char: string) => char.toUpperCase());
const snake: Style = (path) => path.replaceAll('.', '_').replaceAll(/[A-Z]/g, (char) => `_${char.toLowerCase()}`);
const dotted: Style = (path) => path;

/** The likely spelling of values that the sample does not show (services may leave out nulls). */
function detectStyle(observed: ObservedFields): { style: Style; nested: boolean } {
  const names = [...observed.keys()];
  const isSnake = names.some((name) => name.includes('_') && BY_FOLDED_NAME.has(fold(name)));
  const nested = names.length === 0 || PARENTS.some((parent) => observed.get(parent)?.isScalar === false);
  if (isSnake) return { style: snake, nested };
  return { style: !nested && names.some((name) => name.includes('.')) ? dotted : camel, nested };
}

/** Finds the place of each value. @throws PricelakeError `contract` if there are rows and none names an item id */
export function detectShape(observed: ObservedFields, kind: RowKind = 'json', mapping: Mapping = {}): Shape {
  const shape: Shape = {
    fields: new Map(),
    values: new Map(),
    texts: new Set(),
    unknown: new Map(),
    objects: new Set(),
  };
  // A mapping comes first: it wins over a field that is only recognized.
  const isMapped = ([name]: [string, ObservedField]) => Object.hasOwn(mapping, name);
  const fields = [...observed];
  for (const [name, field] of [...fields.filter(isMapped), ...fields.filter((one) => !isMapped(one))]) {
    addObserved(shape, { name, known: translate(name, mapping) }, field, kind);
  }
  if (observed.size > 0 && !shape.values.has('id')) {
    throw new PricelakeError(
      'contract',
      `export rows: no field holds the item's id; the fields are ${[...observed.keys()].slice(0, 40).join(', ')}`,
      { hint: 'Map it in source.mapping, for example {sku: id}, or check source.baseUrl. Nothing was published.' },
    );
  }
  if (kind === 'json') addUnobserved(shape, observed);
  return shape;
}

/** Values of an item whose field no row showed, not even as null; none if no row was seen. */
export function listAbsent(observed: ObservedFields, mapping: Mapping): ItemValue[] {
  if (observed.size === 0) return [];
  const { values } = detectShape(observed, 'csv', mapping); // CSV adds no unseen value
  return ITEM_VALUE_NAMES.filter((name) => !values.has(name));
}

/** A field's name in the rows, and after mapping. */
interface FieldName {
  name: string;
  known: string;
}

function addObserved(shape: Shape, { name, known }: FieldName, field: ObservedField, kind: RowKind): void {
  const taken = [...shape.fields.keys()].some((other) => other.toLowerCase() === name.toLowerCase());
  if (taken) return;
  const mayHold = isParent(known);
  const path = BY_FOLDED_NAME.get(mayHold ? `${fold(known)}name` : fold(known));
  if (mayHold && (!field.isScalar || field.subfields.size > 0))
    addParent(shape, { name, known }, field.subfields, kind);
  else if (path !== undefined && !shape.values.has(ITEM_VALUES[path])) {
    const isText = (field.isScalar || kind === 'csv') && (path === 'attributes' || path === 'datasets');
    if (isText) shape.texts.add(ITEM_VALUES[path]);
    shape.fields.set(name, isText || kind === 'csv' ? 'VARCHAR' : fieldType(path));
    shape.values.set(ITEM_VALUES[path], quoteIdentifier(name));
  } else {
    shape.fields.set(name, kind === 'csv' ? 'VARCHAR' : 'JSON');
    shape.unknown.set(name, quoteIdentifier(name));
  }
}

function addParent(shape: Shape, { name, known: own }: FieldName, subfields: Set<string>, kind: RowKind): void {
  const parent = fold(own);
  const isSnake = [...subfields].some((subfield) => subfield.includes('_'));
  const known = PATHS.filter((path) => path.startsWith(`${parent}.`));
  const types: string[] = [];
  const names = new Set<string>();
  for (const path of known) {
    const own = path.slice(parent.length + 1);
    const observed = [...subfields].find((subfield) => BY_FOLDED_NAME.get(fold(parent + subfield)) === path);
    const subfield = observed ?? (isSnake ? snake(own) : own);
    names.add(subfield);
    types.push(`${quoteIdentifier(subfield)} VARCHAR`);
    shape.values.set(ITEM_VALUES[path], memberSql(name, subfield, kind, '->>'));
  }
  for (const subfield of subfields) {
    if ([...names].some((known) => known.toLowerCase() === subfield.toLowerCase())) continue;
    names.add(subfield);
    types.push(`${quoteIdentifier(subfield)} JSON`);
    shape.unknown.set(`${name}.${subfield}`, memberSql(name, subfield, kind, '->'));
  }
  if (kind === 'csv') shape.objects.add(name);
  shape.fields.set(name, kind === 'csv' ? 'VARCHAR' : `STRUCT(${types.join(', ')})`);
}

/** A member of an object, or of the text of one: as text (->>) or as JSON (->). */
function memberSql(name: string, member: string, kind: RowKind, operator: '->' | '->>'): string {
  if (kind === 'json') return `${quoteIdentifier(name)}.${quoteIdentifier(member)}`;
  const pointer = `/${member.replaceAll('~', '~0').replaceAll('/', '~1')}`;
  return `${quoteIdentifier(name)}${operator}${quoteLiteral(pointer)}`;
}

function addUnobserved(shape: Shape, observed: ObservedFields): void {
  const { style, nested } = detectStyle(observed);
  for (const path of PATHS) {
    const value = ITEM_VALUES[path];
    if (shape.values.has(value)) continue;
    const [parent = ''] = path.split('.');
    if (nested && path.includes('.')) addParent(shape, { name: parent, known: parent }, new Set(), 'json');
    else {
      const name = style(path);
      shape.fields.set(name, fieldType(path));
      shape.values.set(value, quoteIdentifier(name));
    }
  }
}

function fieldType(path: ItemPath): string {
  if (path === 'attributes') return 'JSON';
  return path === 'datasets' ? 'VARCHAR[]' : 'VARCHAR';
}

/** `{"id": 'VARCHAR', …}`: the `columns` argument of read_json. */
export function readJsonColumns(fields: Map<string, string>): string {
  return `{${[...fields].map(([name, type]) => `${quoteIdentifier(name)}: ${quoteLiteral(type)}`).join(', ')}}`;
}

/** `STRUCT(…)` of the fields. */
export function structType(fields: Map<string, string>): string {
  return `STRUCT(${[...fields].map(([name, type]) => `${quoteIdentifier(name)} ${type}`).join(', ')})`;
}
