import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll } from 'vitest';
import { Database } from '../../src/sql/connection.js';
import { createMacros } from '../../src/sql/model.js';
import { quoteLiteral } from '../../src/sql/quote.js';
import type { Mapping } from '../../src/tables/item-names.js';
import type { ChangeOrigin } from '../../src/tables/table.js';
import type { TypedFile } from '../../src/typing/type-file.js';
import { TypingQueue } from '../../src/typing/typing-queue.js';

/** Types bytes as a run does, in a folder of its own. */
export interface Typing {
  /** Types an export's lines; `rows` is the landing's count, by default the number of non-empty lines. */
  items(bytes: string | Buffer, rows?: number): Promise<TypedRows>;
  /** Types an export of CSV, header and all, of so many rows. */
  csv(bytes: string | Buffer, rows: number, mapping?: Mapping): Promise<TypedRows>;
  /** Types changes, one a line. */
  changes(lines: string[], origin?: ChangeOrigin): Promise<TypedRows>;
}

export interface TypedRows {
  /** Rows that fit, `sql` over them, each value as text, null for NULL. */
  select(sql: string): Promise<(string | null)[][]>;
  /** The place, reason and raw text of rejected rows. */
  rejects(): Promise<{ line: string | null; reason: string | null; raw: string | null }[]>;
}

export async function openTyping(): Promise<Typing> {
  const folder = await mkdtemp(path.join(tmpdir(), 'pricelake-typing-'));
  const db = await Database.open();
  afterAll(async () => {
    await db.close();
    await rm(folder, { recursive: true });
  });
  await db.run('SET preserve_insertion_order = false');
  await createMacros(db);
  let files = 0;
  const newTypingQueue = (mapping?: Mapping) => new TypingQueue(db, { runId: 'run', workFolder: folder }, mapping);
  const land = async (bytes: string | Buffer, format = 'ndjson') => {
    const file = path.join(folder, `landed-${++files}.${format}`);
    await writeFile(file, bytes);
    return file;
  };
  const typeItems = async (bytes: string | Buffer, format: string, rows: number, mapping?: Mapping) => {
    const typing = newTypingQueue(mapping);
    const landed = { path: await land(bytes, format), rows, bytes: bytes.length };
    typing.addItems({ ...landed, readAt: '2026-11-20T06:00:00Z' });
    return openRows(db, await typing.finish());
  };
  return {
    items(bytes, rows) {
      const lines = bytes.toString().split('\n');
      return typeItems(bytes, 'ndjson', rows ?? lines.filter((line) => line.trim() !== '').length);
    },
    csv: (bytes, rows, mapping) => typeItems(bytes, 'csv', rows, mapping),
    async changes(lines, origin = 'feed') {
      const file = await land(lines.map((line) => `${line}\n`).join(''));
      return openRows(db, [await newTypingQueue().typeChanges({ path: file, rows: lines.length, origin })]);
    },
  };
}

function openRows(db: Database, files: TypedFile[]): TypedRows {
  const [file] = files as [TypedFile];
  const typed = `read_parquet(${quoteLiteral(file.typedPath)})`;
  const readText = async (sql: string) => {
    const reader = await db.connection.runAndReadAll(sql);
    return reader.getRows().map((row) => row.map((value) => (value === null ? null : String(value))));
  };
  return {
    select: (sql) => readText(`WITH typed AS (SELECT * FROM ${typed} WHERE reject_reason IS NULL) ${sql}`),
    async rejects() {
      const bad =
        file.badPath === undefined
          ? ''
          : `UNION ALL SELECT n, reason, raw FROM read_json(${quoteLiteral(file.badPath)}, format = 'newline_delimited',
               columns = {n: 'BIGINT', raw: 'VARCHAR', reason: 'VARCHAR'})`;
      const rows = await readText(
        `SELECT line_number, reject_reason, raw FROM ${typed} WHERE reject_reason IS NOT NULL ${bad} ORDER BY 1`,
      );
      return rows.map(([line = null, reason = null, raw = null]) => ({ line, reason, raw }));
    },
  };
}

/** An export row with the fields that a typed row needs; `members` adds or replaces fields as JSON text. */
export function itemLine(members: Record<string, string>): string {
  const all = {
    id: '1',
    title: '"A"',
    site: '{"id":7,"name":"Shop","host":"shop.example","attribution":null}',
    ...members,
  };
  return `{${Object.entries(all)
    .map(([name, json]) => `${JSON.stringify(name)}:${json}`)
    .join(',')}}`;
}
