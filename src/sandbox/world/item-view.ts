import { join } from 'node:path';
import { quoteLiteral } from '../../duckdb/quote.js';
import { type DatasetEntry, maskOf } from '../catalogue/datasets.js';
import { itemCsv, itemJson } from './render-sql.js';
import { RowFile, type RowFormat } from './row-file.js';
import type { SqlValues, WorldSession } from './world-database.js';

const SEGMENT = 200_000;

/**
 * The items as one caller sees them: `datasets` of an item names only those that the caller may read.
 * Rows are rendered by DuckDB into a file a format, kept up to date step by step.
 */
export class ItemView {
  readonly datasets: readonly DatasetEntry[];
  readonly mask: number;
  readonly #directory: string;
  readonly #files = new Map<RowFormat, RowFile>();
  readonly #retired: RowFile[] = [];
  #version = 0;

  constructor(directory: string, datasets: readonly DatasetEntry[]) {
    this.#directory = directory;
    this.datasets = datasets;
    this.mask = maskOf(datasets);
  }

  /** The rendered rows; undefined until `render` was called for the format. */
  rows(format: RowFormat): RowFile | undefined {
    return this.#files.get(format);
  }

  /** Renders every item; from then on `refresh` keeps the rows up to date. */
  async render(session: WorldSession, format: RowFormat, itemCount: number): Promise<RowFile> {
    const file = new RowFile(join(this.#directory, `view-${this.mask}-${this.#version++}.${format}`), format);
    for (let from = 0; from < itemCount; from += SEGMENT) {
      const values = { from, to: from + SEGMENT };
      await this.#append(session, file, format, 'n >= $from::BIGINT AND n < $to::BIGINT', values);
    }
    this.#files.set(format, file);
    return file;
  }

  /** Renders what a step touched, in every format that somebody asked for before. */
  async refresh(session: WorldSession, step: number, itemCount: number): Promise<void> {
    for (const [format, file] of [...this.#files]) {
      if (file.size < 64e6 || file.size < 3 * file.liveSize) {
        await this.#append(session, file, format, 'touched = $step::INTEGER', { step });
      } else {
        // Mostly outdated rows: a fresh file. Exports under way go on reading the old one.
        this.#retired.push(file);
        await this.render(session, format, itemCount);
      }
    }
  }

  async #append(
    session: WorldSession,
    file: RowFile,
    format: RowFormat,
    where: string,
    values: SqlValues,
  ): Promise<void> {
    const line = format === 'json' ? itemJson(this.#datasetsJson()) : itemCsv(this.#datasetsJson());
    const visible = `mask & ${this.mask} <> 0 AND ${where}`;
    const rows = await session.integers(`SELECT n FROM items WHERE ${visible}`, values);
    if (rows.length === 0) return;
    const path = join(this.#directory, `render-${this.mask}.${format}.part`);
    // A pure scan: the lines keep the order of the rows on disk, which is that of n.
    await session.copyLines(`SELECT ${line} FROM items WHERE ${visible}`, path, values);
    await file.append(path, rows);
  }

  /** `["A","B"]` of a row, as an SQL expression over its mask. */
  #datasetsJson(): string {
    const names = this.datasets.map(
      ({ bit, name }) => `CASE WHEN mask & ${1 << bit} <> 0 THEN ${quoteLiteral(JSON.stringify(name))} END`,
    );
    return `concat('[', concat_ws(',', ${names.join(', ')}), ']')`;
  }

  close(): void {
    for (const file of [...this.#retired, ...this.#files.values()]) file.close();
  }
}
