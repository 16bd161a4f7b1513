import { join } from 'node:path';
import { quoteLiteral } from '../../sql/quote.js';
import { type DatasetEntry, maskOf } from '../catalog/datasets.js';
import { type RowStyle, rowText } from './export-rows.js';
import { RowFile, type RowFormat } from './row-file.js';
import type { SqlValues, WorldSession } from './world-database.js';

/** The number of rows that are rendered at a time. The first segment is small, so that an export starts early. */
const FIRST_SEGMENT = 20_000;
const SEGMENT = 200_000;

interface Rendered {
  file: RowFile;
  /** The file contains all rows with numbers below `upTo`, as they were at the end of `step`. */
  upTo: number;
  step: number;
}

export function findSegmentEnd(n: number): number {
  return n < FIRST_SEGMENT ? FIRST_SEGMENT : FIRST_SEGMENT + Math.ceil((n + 1 - FIRST_SEGMENT) / SEGMENT) * SEGMENT;
}

/**
 * The items as a caller sees them, with only those `datasets` that the caller may read. DuckDB renders the rows to one
 * file per format, and updates each file after each step.
 */
export class ItemView {
  readonly datasets: readonly DatasetEntry[];
  readonly mask: number;
  readonly #directory: string;
  readonly #style: () => RowStyle;
  readonly #rendered = new Map<RowFormat, Rendered>();
  #asides = 0;

  constructor(directory: string, datasets: readonly DatasetEntry[], style: () => RowStyle) {
    this.#directory = directory;
    this.#style = style;
    this.datasets = datasets;
    this.mask = maskOf(datasets);
  }

  /** Returns the file if it has all rows below `upTo` as they were at the end of `step`; otherwise undefined. */
  rows(format: RowFormat, upTo: number, step: number): RowFile | undefined {
    const rendered = this.#rendered.get(format);
    return rendered !== undefined && rendered.upTo >= upTo && rendered.step === step ? rendered.file : undefined;
  }

  /** Renders rows below `upTo` that are missing from the file or were changed by a step up to `step`. */
  async render(session: WorldSession, format: RowFormat, upTo: number, step: number): Promise<RowFile> {
    const rendered = this.#rendered.get(format) ?? { file: this.#open(`view-${this.mask}`, format), upTo: 0, step };
    this.#rendered.set(format, rendered);
    // A plain scan returns rows in their order on disk, which is the order of `n`. A join could return another order.
    const append = (where: string, values: SqlValues) =>
      this.#append(session, rendered.file, `items WHERE mask & ${this.mask} <> 0 AND ${where}`, values);
    if (rendered.step < step) {
      const values = { since: rendered.step, upTo: rendered.upTo };
      await append('touched > $since::INTEGER AND n < $upTo::BIGINT', values);
      rendered.step = step;
    }
    while (rendered.upTo < upTo) {
      const values = { from: rendered.upTo, to: Math.min(upTo, findSegmentEnd(rendered.upTo)) };
      await append('n >= $from::BIGINT AND n < $to::BIGINT', values);
      rendered.upTo = values.to;
    }
    return rendered.file;
  }

  /** Renders rows of a relation other than `items` to a separate file. */
  async renderAside(session: WorldSession, format: RowFormat, relation: string, rows: Uint32Array): Promise<RowFile> {
    const file = this.#open(`aside-${this.mask}-${this.#asides++}`, format);
    const wanted = `${relation} WHERE n IN (SELECT unnest(from_json($rows, '["INTEGER"]'))) ORDER BY n`;
    await this.#append(session, file, wanted, { rows: JSON.stringify([...rows]) });
    return file;
  }

  #open(name: string, format: RowFormat): RowFile {
    return new RowFile(join(this.#directory, `${name}.${format}`), format);
  }

  async #append(session: WorldSession, file: RowFile, from: string, values: SqlValues): Promise<void> {
    const rows = await session.integers(`SELECT n FROM ${from}`, values);
    if (rows.length === 0) return;
    const path = `${file.path}.part`;
    await session.copyLines(
      `SELECT ${rowText(file.format, this.#style(), this.#datasetsJson())} FROM ${from}`,
      path,
      values,
    );
    await file.append(path, rows);
  }

  /** Builds an SQL expression for the names of a row's datasets as a JSON array. */
  #datasetsJson(): string {
    const names = this.datasets.map(
      ({ bit, name }) => `CASE WHEN mask & ${1 << bit} <> 0 THEN ${quoteLiteral(JSON.stringify(name))} END`,
    );
    return `concat('[', concat_ws(',', ${names.join(', ')}), ']')`;
  }

  close(): void {
    for (const { file } of this.#rendered.values()) file.close();
  }
}
