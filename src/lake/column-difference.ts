import { PricelakeError } from '../errors/errors.js';
import type { TableSchema } from '../tables/schemas.js';
import type { ColumnDifference, TableName, TableState } from '../tables/table.js';
import { readDeltaColumns, writeDeltaSchema } from './delta-schema.js';
import { type Lake, tablePath } from './layout.js';
import { PRICELAKE_VERSION } from './version.js';

/** Compares a table's columns, by name, with its contract; their order is free. */
export function compareColumns(schema: TableSchema, schemaString: string): ColumnDifference {
  const found = readDeltaColumns(schemaString);
  const wanted = readDeltaColumns(writeDeltaSchema(schema));
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

/**
 * Refuses tables that a newer version wrote: this one would lose their columns.
 * @throws PricelakeError `lake_invalid`
 */
export function refuseUnknownColumns(lake: Lake, states: readonly TableState[]): void {
  for (const { table, difference } of states) {
    if (difference.unknown.length === 0) continue;
    throw new PricelakeError(
      'lake_invalid',
      `${tablePath(lake, table)}: a newer version wrote it; pricelake ${PRICELAKE_VERSION} does not know its ${nameColumns(difference.unknown)} and would lose their values`,
      { hint: 'Use the version that wrote the lake, or a newer one. Nothing was changed.' },
    );
  }
}

/** Refuses columns of another type. @throws PricelakeError `lake_invalid` */
export function refuseOtherTypes(lake: Lake, { table, difference }: TableState): void {
  if (difference.retyped.length === 0) return;
  throw new PricelakeError(
    'lake_invalid',
    `${tablePath(lake, table)}: ${describeOtherTypes(table, difference)}; no value is read as another type`,
    {
      hint: '`pricelake rebuild` makes the tables again from the kept raw bytes; or use the version that wrote the lake.',
    },
  );
}

/** `column price is string, schemas/items.yaml of pricelake 0.1.0 says decimal(18,4)` */
export function describeOtherTypes(table: TableName, { retyped }: ColumnDifference): string {
  const contract = `schemas/${table}.yaml of pricelake ${PRICELAKE_VERSION}`;
  return retyped.map(({ name, has, wants }) => `column ${name} is ${has}, ${contract} says ${wants}`).join('; ');
}

/** `column a`, `columns a, b` */
export function nameColumns(names: readonly string[]): string {
  return `${names.length === 1 ? 'column' : 'columns'} ${names.join(', ')}`;
}
