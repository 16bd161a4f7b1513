import { PricelakeError } from '../io/errors.js';
import { quoteIdentifier, quoteLiteral } from '../sql/quote.js';
import {
  BY_FOLDED_NAME,
  fold,
  ITEM_VALUE_NAMES,
  ITEM_VALUES,
  type ItemPath,
  type ItemValue,
  isExactName,
  isParent,
  type Mapping,
  PARENTS,
  PATHS,
  STYLES,
  translate,
} from '../tables/item-names.js';

/**
 * Describes where a downloaded row contains an item's values. The API document lists the fields of Item, but not those
 * of an export row. So every plausible name is recognized, nested as in Item or flat (`siteId`, `site_id`, `site.id`).
 */
export interface Shape {
  /** The top-level fields to read, and their DuckDB types. In CSV, all fields are text. */
  fields: Map<string, string>;
  /** The SQL expression for each item value. In CSV, a value without a column has no expression. */
  values: Map<ItemValue, string>;
  /** Contains `attributes` or `datasets` if the rows have its value as text, which is JSON or a list of names. */
  texts: Set<ItemValue>;
  /** SQL for each field that the API document doesn't list, by its name in `extra`. Returns JSON, or text for CSV. */
  unknown: Map<string, string>;
  objects: Set<string>;
  /** True if two names in JSON rows differ only in case. Then the column ROW contains each row as an OPEN_OBJECT. */
  isOpen: boolean;
}

/** The type of objects whose names may differ only in case. SQL ignores case in names of columns and struct fields. */
export const OPEN_OBJECT = 'MAP(VARCHAR, JSON)';
export const ROW = 'row';

/** Precedes each capital letter in the name of a column. This is a private-use character, like NUMBER_MARK. */
const CAPITAL_MARK = '\uE0F3';

/** Returns a name for a CSV column that is unique even if case is ignored. */
export function nameColumn(name: string): string {
  return name.replaceAll(/[\p{Lu}\uE0F3]/gu, (char) => CAPITAL_MARK + char);
}

function haveEqualNames(names: Iterable<string>): boolean {
  const all = [...names];
  return new Set(all.map((name) => name.toLowerCase())).size < all.length;
}

/** JSON rows have typed values; CSV rows have only text. */
export type RowKind = 'json' | 'csv';

/** The facts about a top-level field in a sample of rows. */
export interface ObservedField {
  subfields: Set<string>;
  /** True if any value was neither null nor an object. */
  isScalar: boolean;
}
export type ObservedFields = Map<string, ObservedField>;

export function observeRow(observed: ObservedFields, row: unknown, mapping: Mapping = {}): void {
  if (typeof row !== 'object' || row === null || Array.isArray(row)) return;
  for (const [name, value] of Object.entries(row)) {
    if (name === '') continue; // DuckDB doesn't allow a column without a name
    const field = observed.get(name) ?? { subfields: new Set<string>(), isScalar: false };
    observed.set(name, field);
    if (typeof value !== 'object') field.isScalar = true;
    else if (value !== null && isParent(name, mapping)) {
      for (const subfield of Object.keys(value)) if (subfield !== '') field.subfields.add(subfield);
    }
  }
}

type Style = (path: string) => string;

/** Guesses the spelling of fields that aren't in the sample. A service may omit fields whose value is null. */
function detectStyle(observed: ObservedFields): { style: Style; nested: boolean } {
  const names = [...observed.keys()];
  const isSnake = names.some((name) => name.includes('_') && BY_FOLDED_NAME.has(fold(name)));
  const nested = names.length === 0 || PARENTS.some((parent) => observed.get(parent)?.isScalar === false);
  if (isSnake) return { style: STYLES.snake, nested };
  return { style: !nested && names.some((name) => name.includes('.')) ? STYLES.dotted : STYLES.camel, nested };
}

interface DetectedShape extends Shape {
  parents: Set<string>;
}

/** Finds where rows contain each value. @throws PricelakeError `contract` if rows have no field for the item's id */
export function detectShape(observed: ObservedFields, kind: RowKind = 'json', mapping: Mapping = {}): Shape {
  const shape: DetectedShape = {
    fields: new Map(),
    values: new Map(),
    texts: new Set(),
    unknown: new Map(),
    objects: new Set(),
    isOpen: kind === 'json' && haveEqualNames(observed.keys()),
    parents: new Set(),
  };
  // A mapped name takes precedence over a recognized name, and a standard spelling over other spellings.
  const rank = (name: string) => (Object.hasOwn(mapping, name) ? 0 : isExactName(name) ? 1 : 2);
  for (const [name, field] of [...observed].sort(([a], [b]) => rank(a) - rank(b))) {
    addObserved(shape, { name, known: translate(name, mapping) }, field, kind);
  }
  if (observed.size > 0 && !shape.values.has('id')) {
    throw new PricelakeError(
      'contract',
      `export rows: no field contains the item's id. The fields are ${[...observed.keys()].slice(0, 40).join(', ')}`,
      { hint: 'Map the id in source.mapping, for example {sku: id}, or check source.baseUrl. Nothing was published.' },
    );
  }
  if (kind === 'json') addUnobserved(shape, observed);
  const { parents, ...detected } = shape;
  return detected;
}

/** Lists the item values for which no observed row has a field. A field whose value is null counts as a field. */
export function listAbsent(observed: ObservedFields, mapping: Mapping): ItemValue[] {
  if (observed.size === 0) return [];
  const { values } = detectShape(observed, 'csv', mapping); // for CSV, `values` contains only observed fields
  return ITEM_VALUE_NAMES.filter((name) => !values.has(name));
}

/** The name of a field in the rows, and its name according to the mapping. */
interface FieldName {
  name: string;
  known: string;
}

function addObserved(shape: DetectedShape, { name, known }: FieldName, field: ObservedField, kind: RowKind): void {
  const mayHold = isParent(known);
  const path = BY_FOLDED_NAME.get(mayHold ? `${fold(known)}name` : fold(known));
  const isFree = mayHold ? !shape.parents.has(fold(known)) : path !== undefined && !shape.values.has(ITEM_VALUES[path]);
  if (mayHold) shape.parents.add(fold(known));
  if (isFree && mayHold && (!field.isScalar || field.subfields.size > 0))
    addParent(shape, { name, known }, field.subfields, kind);
  else if (isFree && path !== undefined && !shape.values.has(ITEM_VALUES[path])) {
    const isText = (field.isScalar || kind === 'csv') && (path === 'attributes' || path === 'datasets');
    if (isText) shape.texts.add(ITEM_VALUES[path]);
    const type = isText || kind === 'csv' ? 'VARCHAR' : fieldType(path);
    shape.values.set(ITEM_VALUES[path], addField(shape, name, type, kind));
  } else shape.unknown.set(name, addField(shape, name, kind === 'csv' ? 'VARCHAR' : 'JSON', kind));
}

/** Adds a top-level field to the fields to read. Returns the SQL for its value. */
function addField(shape: DetectedShape, name: string, type: string, kind: RowKind): string {
  const column = kind === 'csv' ? nameColumn(name) : name;
  shape.fields.set(column, type);
  return shape.isOpen ? openMember(ROW, name, type) : quoteIdentifier(column);
}

function addParent(shape: DetectedShape, { name, known: own }: FieldName, subfields: Set<string>, kind: RowKind): void {
  const parent = fold(own);
  const sorted = [...subfields].sort((a, b) => Number(isExactName(b, own)) - Number(isExactName(a, own)));
  const isSnake = sorted.some((subfield) => subfield.includes('_'));
  const members = new Map<string, { path?: ItemPath; type: string }>();
  for (const path of PATHS.filter((one) => one.startsWith(`${parent}.`))) {
    if (shape.values.has(ITEM_VALUES[path])) continue;
    const own = path.slice(parent.length + 1);
    const observed = sorted.find((subfield) => BY_FOLDED_NAME.get(fold(parent + subfield)) === path);
    members.set(observed ?? (isSnake ? STYLES.snake(own) : own), { path, type: 'VARCHAR' });
  }
  for (const subfield of sorted) if (!members.has(subfield)) members.set(subfield, { type: 'JSON' });
  const isOpen = shape.isOpen || haveEqualNames(members.keys());
  const types = [...members].map(([member, { type }]) => `${quoteIdentifier(member)} ${type}`).join(', ');
  const object = isOpen ? OPEN_OBJECT : `STRUCT(${types})`;
  const sql = addField(shape, name, kind === 'csv' ? 'VARCHAR' : object, kind);
  if (kind === 'csv') shape.objects.add(name);
  for (const [member, { path, type }] of members) {
    const value = kind === 'json' && isOpen ? openMember(sql, member, type) : memberSql(sql, member, kind, type);
    if (path !== undefined) shape.values.set(ITEM_VALUES[path], value);
    else shape.unknown.set(`${name}.${member}`, value);
  }
}

function memberSql(object: string, member: string, kind: RowKind, type: string): string {
  if (kind === 'json') return `${object}.${quoteIdentifier(member)}`;
  const pointer = `/${member.replaceAll('~', '~0').replaceAll('/', '~1')}`;
  return `${object}${type === 'JSON' ? '->' : '->>'}${quoteLiteral(pointer)}`;
}

function openMember(object: string, member: string, type: string): string {
  const json = `${object}[${quoteLiteral(member)}]`;
  if (type === 'JSON') return json;
  return type === 'VARCHAR' ? `${json}->>'$'` : `CAST(${json} AS ${type})`;
}

function addUnobserved(shape: DetectedShape, observed: ObservedFields): void {
  const { style, nested } = detectStyle(observed);
  for (const path of PATHS) {
    const value = ITEM_VALUES[path];
    if (shape.values.has(value)) continue;
    const [parent = ''] = path.split('.');
    if (!nested || !path.includes('.')) shape.values.set(value, addField(shape, style(path), fieldType(path), 'json'));
    else if (!shape.parents.has(parent)) addParent(shape, { name: parent, known: parent }, new Set(), 'json');
  }
}

function fieldType(path: ItemPath): string {
  if (path === 'attributes') return 'JSON';
  return path === 'datasets' ? 'VARCHAR[]' : 'VARCHAR';
}

/** Builds the argument `columns` of read_json: `{"id": 'VARCHAR', …}`. */
export function readJsonColumns(fields: Map<string, string>): string {
  return `{${[...fields].map(([name, type]) => `${quoteIdentifier(name)}: ${quoteLiteral(type)}`).join(', ')}}`;
}

/** Builds the DuckDB type `STRUCT(…)` with these fields. */
export function structType(fields: Map<string, string>): string {
  return `STRUCT(${[...fields].map(([name, type]) => `${quoteIdentifier(name)} ${type}`).join(', ')})`;
}
