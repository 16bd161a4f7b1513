import { join } from 'node:path';
import { quoteLiteral } from '../../sql/quote.js';
import { type DatasetEntry, maskOf } from '../catalogue/datasets.js';
import { type RowStyle, rowText } from './export-rows.js';
import { RowFile, type RowFormat } from './row-file.js';
import type { SqlValues, WorldSession } from './world-database.js';

/** Rows are rendered by segments when they are needed. A small first one lets an export start early. */
const FIRST_SEGMENT = 20_000;
const SEGMENT = 200_000;
/** From so many bytes on, outdated rows are worth a fresh file. */
const COMPACT_FROM = 64e6;

interface Rendered {
  file: RowFile;
  /** The file has the rows below this number, as of the end of the step. */
  upTo: number;
  step: number;
}

export function findSegmentEnd(n: number): number {
  return n < FIRST_SEGMENT ? FIRST_SEGMENT : FIRST_SEGMENT + Math.ceil((n + 1 - FIRST_SEGMENT) / SEGMENT) * SEGMENT;
}

/**
 * The items as one caller sees them: an item's `datasets` names only those that the caller may read. DuckDB renders the
 * rows into one file a format, kept up to date step by step.
 */
export class ItemView {
  readonly datasets: readonly DatasetEntry[];
  readonly mask: number;
  readonly #directory: string;
  readonly #style: () => RowStyle;
  readonly #rendered = new Map<RowFormat, Rendered>();
  readonly #retired: RowFile[] = [];
  #version = 0;

  constructor(directory: string, datasets: readonly DatasetEntry[], style: () => RowStyle) {
    this.#directory = directory;
    this.#style = style;
    this.datasets = datasets;
    this.mask = maskOf(datasets);
  }

  /** Undefined unless all rows below `upTo` are rendered as of the end of `step`. */
  rows(format: RowFormat, upTo: number, step: number): RowFile | undefined {
    const rendered = this.#rendered.get(format);
    return rendered !== undefined && rendered.upTo >= upTo && rendered.step === step ? rendered.file : undefined;
  }

  /** Renders what is missing below `upTo`, and what steps up to `step` touched. */
  async render(session: WorldSession, format: RowFormat, upTo: number, step: number): Promise<RowFile> {
    const rendered = this.#reuse(format, step);
    if (rendered.step < step) {
      const values = { since: rendered.step, upTo: rendered.upTo };
      await this.#append(session, rendered.file, format, 'touched > $since::INTEGER AND n < $upTo::BIGINT', values);
      rendered.step = step;
    }
    while (rendered.upTo < upTo) {
      const values = { from: rendered.upTo, to: Math.min(upTo, findSegmentEnd(rendered.upTo)) };
      await this.#append(session, rendered.file, format, 'n >= $from::BIGINT AND n < $to::BIGINT', values);
      rendered.upTo = values.to;
    }
    return rendered.file;
  }

  /** Renders rows of another relation than `items` into a file of their own. */
  async renderAside(session: WorldSession, format: RowFormat, relation: string, wanted: Uint32Array): Promise<RowFile> {
    const file = new RowFile(join(this.#directory, `aside-${this.mask}-${this.#version++}.${format}`), format);
    const rows = wanted.toSorted();
    const path = join(this.#directory, `aside-${this.mask}.${format}.part`);
    const line = rowText(format, this.#style(), this.#datasetsJson());
    const where = `n IN (SELECT unnest(from_json($rows, '["INTEGER"]')))`;
    await session.copyLines(`SELECT ${line} FROM ${relation} WHERE ${where} ORDER BY n`, path, {
      rows: JSON.stringify([...rows]),
    });
    await file.append(path, rows);
    return file;
  }

  has(format: RowFormat): boolean {
    return this.#rendered.has(format);
  }

  /** A fresh file when most of the rows are outdated. Exports that run keep the old one. */
  #reuse(format: RowFormat, step: number): Rendered {
    const known = this.#rendered.get(format);
    if (known !== undefined && (known.file.size < COMPACT_FROM || known.file.size < 3 * known.file.liveSize))
      return known;
    if (known !== undefined) this.#retired.push(known.file);
    const path = join(this.#directory, `view-${this.mask}-${this.#version++}.${format}`);
    const fresh = { file: new RowFile(path, format), upTo: 0, step };
    this.#rendered.set(format, fresh);
    return fresh;
  }

  async #append(
    session: WorldSession,
    file: RowFile,
    format: RowFormat,
    where: string,
    values: SqlValues,
  ): Promise<void> {
    const line = rowText(format, this.#style(), this.#datasetsJson());
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
    for (const file of this.#retired) file.close();
    for (const { file } of this.#rendered.values()) file.close();
  }
}
