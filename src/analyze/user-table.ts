import { createReadStream } from 'node:fs';
import { PricelakeError } from '../io/errors.js';
import { requireUtf8 } from '../io/user-text.js';
import type { Statements } from '../sql/connection.js';
import { quoteLiteral } from '../sql/quote.js';

export interface UserTable {
  file: string;
  name: string;
  /** A noun for the rows, for use in error messages. */
  rows: string;
  columns: readonly string[];
  /** Optional columns. A missing column or an empty string becomes null. */
  optional?: readonly string[];
  /** An SQL expression that describes what is wrong with a line; null for a valid line. */
  fault: string;
  select: string;
  hint: string;
}

/**
 * Loads the user's CSV file into a table if all of its lines are valid.
 * @throws PricelakeError `config` with the file and line of the first invalid line
 */
export async function loadUserTable(db: Statements, table: UserTable): Promise<void> {
  const { file, name, fault, select, hint } = table;
  await readUserLines(db, { ...table, lines: 'user_lines' });
  const bad = await db.row(`SELECT * FROM (SELECT line, ${fault} AS reason FROM user_lines)
    WHERE reason IS NOT NULL ORDER BY line LIMIT 1`);
  if (bad !== undefined) throw new PricelakeError('config', `${file}:${bad.line}: ${bad.reason}`, { hint });
  await db.run(`CREATE OR REPLACE TABLE ${name} AS SELECT ${select} FROM user_lines`);
  await db.run('DROP TABLE user_lines');
}

export interface UserLines extends Pick<UserTable, 'file' | 'rows' | 'columns' | 'optional' | 'hint'> {
  lines: string;
  delimiter?: string;
  /** True to accept column names in any case, such as `Lowest`. */
  isAnyCase?: boolean;
}

/**
 * Reads lines as text, with the line numbers that an editor shows.
 * @throws PricelakeError `config` if the file isn't CSV or lacks a column
 */
export async function readUserLines(
  db: Statements,
  { file, rows, columns, optional = [], hint, lines, delimiter = ',', isAnyCase = false }: UserLines,
): Promise<void> {
  // Ignores a failure to open the file, because the next statement reports this failure.
  await requireUtf8(file).catch((error: unknown) => {
    if (error instanceof PricelakeError) throw error;
  });
  try {
    await db.run(`CREATE OR REPLACE TABLE ${lines} AS
      SELECT row_number() OVER () + 1 AS line, *
      FROM read_csv(${quoteLiteral(file)}, header = true, all_varchar = true, delim = ${quoteLiteral(delimiter)}, quote = '"', normalize_names = ${isAnyCase}, parallel = false)`);
  } catch (cause) {
    // Ignores a failure to read the file, so that DuckDB's error is shown.
    const wrong = await findLineEndFault(file).catch(() => undefined);
    if (wrong !== undefined) throw new PricelakeError('config', `${file}:${wrong}`, { hint }, { cause });
    const [reason = ''] = (cause instanceof Error ? cause.message : String(cause)).split('\n');
    throw new PricelakeError('config', `${file}: can't read ${rows}: ${reason}`, { hint }, { cause });
  }
  const names = (await db.rows(`DESCRIBE ${lines}`)).map(({ column_name }) => String(column_name));
  const missing = columns.filter((name) => !names.includes(name));
  if (missing.length > 0) {
    throw new PricelakeError('config', `${file}:1: missing column ${missing.join(', ')}`, { hint });
  }
  for (const name of optional)
    if (!names.includes(name)) await db.run(`ALTER TABLE ${lines} ADD COLUMN ${name} VARCHAR`);
}

const [RETURN, NEWLINE, QUOTE] = [0x0d, 0x0a, 0x22];

/** Describes the first line whose line ending differs from that of line 1. DuckDB's error has no line number. */
async function findLineEndFault(file: string): Promise<string | undefined> {
  let [line, isQuoted, last] = [1, false, 0];
  let hasReturns: boolean | undefined;
  for await (const chunk of createReadStream(file) as AsyncIterable<Buffer>) {
    for (const byte of chunk) {
      if (byte === QUOTE) isQuoted = !isQuoted;
      if (last === RETURN && byte !== NEWLINE && !isQuoted)
        return `${line}: a carriage return is not followed by a newline`;
      if (byte === NEWLINE) {
        hasReturns ??= last === RETURN;
        if (hasReturns !== (last === RETURN) && !isQuoted)
          return `${line}: the line ends ${hasReturns ? 'without' : 'with'} a carriage return, unlike the first line`;
        line += 1;
      }
      last = byte;
    }
  }
  return undefined;
}
