import * as z from 'zod';
import { PricelakeError } from '../io/errors.js';
import { PRICELAKE_VERSION } from '../io/package-path.js';
import { type Lake, tablePath } from '../tables/layout.js';
import type { TableSchema } from '../tables/schemas.js';
import { DELTA_TYPES, type DeltaType } from '../tables/schemas.js';
import type { ColumnDifference, TableName, TableState } from '../tables/table.js';

interface DeltaField {
  name: string;
  type: DeltaType;
  nullable: boolean;
  metadata: Record<string, unknown>;
}

/** Builds the `schemaString` of a table for Delta's log. All columns are nullable, as in DuckDB's Parquet files. */
export function writeDeltaSchema(schema: TableSchema): string {
  const fields = schema.columns.map(
    (column): DeltaField => ({
      name: column.name,
      type: DELTA_TYPES[column.type],
      nullable: true,
      metadata: { comment: column.description },
    }),
  );
  return JSON.stringify({ type: 'struct', fields });
}

const schemaSchema = z.object({
  fields: z.array(z.object({ name: z.string(), type: z.union([z.string(), z.looseObject({})]) })),
});

/** Parses a `schemaString` into types by column name. @throws PricelakeError `lake_invalid` if it is damaged */
export function readDeltaColumns(schemaString: string): Map<string, string> {
  const read = schemaSchema.safeParse(parseJson(schemaString));
  if (!read.success) throw new PricelakeError('lake_invalid', 'schemaString is not the schema of a Delta table');
  const { fields } = read.data;
  return new Map(fields.map(({ name, type }) => [name, typeof type === 'string' ? type : JSON.stringify(type)]));
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Compares a table's `schemaString` with its contract. Reports no difference if the table has no `schemaString`. */
export function compareColumns(schema: TableSchema, schemaString: string | undefined): ColumnDifference {
  const expected = writeDeltaSchema(schema);
  // Equal strings aren't parsed, because each run compares all tables, and the strings are nearly always equal.
  if (schemaString === undefined || schemaString === expected) return { missing: [], unknown: [], retyped: [] };
  const found = readDeltaColumns(schemaString);
  const wanted = readDeltaColumns(expected);
  const names = [...wanted.keys()];
  return {
    missing: names.filter((name) => !found.has(name)),
    unknown: [...found.keys()].filter((name) => !wanted.has(name)),
    retyped: names.flatMap((name) => {
      const [has, wants] = [found.get(name), wanted.get(name) as string];
      return has === undefined || has === wants ? [] : [{ name, has, wants }];
    }),
  };
}

export function hasDifference(difference: ColumnDifference): boolean {
  return Object.values(difference).some(({ length }) => length > 0);
}

/** Throws if a table's columns differ from its contract. @throws PricelakeError `lake_invalid` */
export function refuseOtherColumns(lake: Lake, states: readonly TableState[]): void {
  for (const state of states) {
    if (hasDifference(state.difference)) throw explainDifference(lake, state);
  }
}

/** Throws if a column is missing or retyped. Unknown columns are allowed. @throws PricelakeError `lake_invalid` */
export function refuseUnreadable(lake: Lake, state: TableState): void {
  const difference = { ...state.difference, unknown: [] };
  if (hasDifference(difference)) throw explainDifference(lake, { ...state, difference });
}

function explainDifference(lake: Lake, { table, difference }: TableState): PricelakeError {
  const what = `${tablePath(lake, table)}: ${describeDifference(table, difference)}`;
  const hint =
    'Rebuild the tables from the saved raw data with `pricelake lake rebuild`, or use the version of pricelake that wrote the lake. Nothing was changed.';
  return new PricelakeError('lake_invalid', what, { hint });
}

/** Describes a difference, such as `it lacks column unit, which schemas/items.yaml of pricelake 0.1.0 defines`. */
export function describeDifference(table: TableName, { missing, unknown, retyped }: ColumnDifference): string {
  const contract = `schemas/${table}.yaml of pricelake ${PRICELAKE_VERSION}`;
  return [
    ...(missing.length === 0 ? [] : [`it lacks ${nameColumns(missing)}, which ${contract} defines`]),
    ...(unknown.length === 0 ? [] : [`it has ${nameColumns(unknown)}, which ${contract} doesn't define`]),
    ...retyped.map(({ name, has, wants }) => `column ${name} is ${has}, but ${contract} requires ${wants}`),
  ].join('; ');
}

/** Formats names as `column a` or `columns a, b`. */
export function nameColumns(names: readonly string[]): string {
  return `${names.length === 1 ? 'column' : 'columns'} ${names.join(', ')}`;
}
