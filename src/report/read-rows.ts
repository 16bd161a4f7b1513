import {
  DuckDBDateValue,
  DuckDBDecimalValue,
  DuckDBListValue,
  type DuckDBResultReader,
  DuckDBStructValue,
  DuckDBTimestampTZValue,
  type DuckDBValue,
} from '@duckdb/node-api';
import * as z from 'zod';
import { setVariables } from '../analyze/analysis.js';
import type { Database } from '../sql/connection.js';
import { readAnalysis } from '../sql/model.js';

/**
 * Runs an analysis (pipelines/analysis) over the views of the tables. Money arrives as exact decimal text, times as
 * Date, days as `2026-11-20`. A variable that is null is unset.
 */
export async function readRows<Row>(
  db: Database,
  name: string,
  row: z.ZodType<Row>,
  variables: Record<string, DuckDBValue> = {},
): Promise<Row[]> {
  await setVariables(db, variables);
  return parseRows(await db.read(readAnalysis(name)), row);
}

export function parseRows<Row>(reader: DuckDBResultReader, row: z.ZodType<Row>): Row[] {
  return z.array(row).parse(reader.getRowObjects().map(toPlainObject));
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

/** A time beyond the range of Date becomes the nearest one within it. */
function toDate(micros: bigint): Date {
  return new Date(Math.max(-MOST_MILLISECONDS, Math.min(MOST_MILLISECONDS, Number(micros / 1000n))));
}
