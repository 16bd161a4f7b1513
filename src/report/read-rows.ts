import { readFileSync } from 'node:fs';
import {
  BIGINT,
  BOOLEAN,
  DuckDBDateValue,
  DuckDBDecimalValue,
  DuckDBListValue,
  DuckDBStructValue,
  DuckDBTimestampTZValue,
  type DuckDBType,
  type DuckDBValue,
  LIST,
  listValue,
  VARCHAR,
} from '@duckdb/node-api';
import { z } from 'zod';
import type { Database } from '../duckdb/connection.js';
import { packagePath } from '../schemas.js';

/** What a parameter of an analysis may be: null is no restriction, a number is an integer. */
export type Parameter = bigint | number | boolean | string | null | readonly string[] | readonly bigint[];

/**
 * Runs `pipelines/analysis/<file>` over the views of the tables and parses its rows. Money arrives as exact decimal
 * text, times as Date, days as `2026-11-20`.
 */
export async function readRows<Row>(
  db: Database,
  file: string,
  row: z.ZodType<Row>,
  parameters: Record<string, Parameter> = {},
): Promise<Row[]> {
  const sql = readFileSync(packagePath(`pipelines/analysis/${file}`), 'utf8');
  const bound = Object.entries(parameters).map(([name, value]) => [name, bindParameter(value)] as const);
  const reader = await db.connection.runAndReadAll(
    sql,
    Object.fromEntries(bound.map(([name, { value }]) => [name, value])),
    Object.fromEntries(bound.map(([name, { type }]) => [name, type])),
  );
  return z.array(row).parse(reader.getRowObjects().map(toPlainObject));
}

/** The row of an analysis that always gives one. */
export async function readOne<Row>(
  db: Database,
  file: string,
  row: z.ZodType<Row>,
  parameters: Record<string, Parameter> = {},
): Promise<Row> {
  const [first] = await readRows(db, file, row, parameters);
  if (first === undefined) throw new TypeError(`${file} gave no row`);
  return first;
}

function bindParameter(value: Parameter): { value: DuckDBValue; type: DuckDBType } {
  if (typeof value === 'bigint' || typeof value === 'number') return { value: BigInt(value), type: BIGINT };
  if (typeof value === 'boolean') return { value, type: BOOLEAN };
  if (value === null || typeof value === 'string') return { value, type: VARCHAR };
  const type = typeof value[0] === 'bigint' ? LIST(BIGINT) : LIST(VARCHAR);
  return { value: listValue([...value]), type };
}

function toPlainObject(row: Record<string, DuckDBValue>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(row).map(([name, value]) => [name, toPlainValue(value)]));
}

function toPlainValue(value: DuckDBValue): unknown {
  if (value instanceof DuckDBDecimalValue || value instanceof DuckDBDateValue) return value.toString();
  if (value instanceof DuckDBTimestampTZValue) return toDate(value.micros);
  if (value instanceof DuckDBListValue) return value.items.map(toPlainValue);
  if (value instanceof DuckDBStructValue) return toPlainObject(value.entries as Record<string, DuckDBValue>);
  return value;
}

const MOST_MILLISECONDS = 8.64e15;

/** To the millisecond; a time that no Date can hold becomes the nearest that one can. */
function toDate(micros: bigint): Date {
  return new Date(Math.max(-MOST_MILLISECONDS, Math.min(MOST_MILLISECONDS, Number(micros / 1000n))));
}
