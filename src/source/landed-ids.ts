import { extname } from 'node:path';
import { parseCsvRecord, readCsvRecords } from '../formats/csv.js';
import { findField, readInt64 } from '../formats/json-scan.js';
import { readLines } from '../formats/ndjson.js';
import type { IsId } from '../formats/row-id.js';

/** Ids of the items of a landed file, JSON lines or CSV. A blank or damaged row has none; typing says what is wrong. */
export async function* readLandedIds(file: string, isId: IsId): AsyncGenerator<bigint> {
  if (extname(file) === '.csv') yield* readCsvIds(file, isId);
  else
    for await (const line of readLines(file)) {
      const id = readIdOrNothing(line, isId);
      if (id !== undefined) yield id;
    }
}

async function* readCsvIds(file: string, isId: IsId): AsyncGenerator<bigint> {
  let column: number | undefined;
  for await (const { bytes } of readCsvRecords(file)) {
    const cells = parseCsvRecord(bytes.toString('utf8'));
    if (cells === undefined) continue;
    if (column === undefined) column = cells.findIndex((name) => name !== null && isId(name));
    else if (/^-?\d+$/.test(cells[column] ?? '')) yield BigInt(cells[column] as string);
  }
}

function readIdOrNothing(line: Buffer, isId: IsId): bigint | undefined {
  try {
    const slice = findField(line, 0, isId);
    return slice === undefined ? undefined : readInt64(line, slice);
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}
