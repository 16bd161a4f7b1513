import { readFile } from 'node:fs/promises';
import { hasSystemCode, PricelakeError } from '../../errors.js';
import { tablePath } from '../../lake/layout.js';
import { TABLE_NAMES } from '../../model.js';
import type { Format } from '../output/format-names.js';
import { toResultSet } from '../output/result-set.js';
import { requireOneOwner, writeResult } from '../output/write-result.js';
import { readCredits, readLake } from '../read-lake.js';
import { lockDown, prepareSelect } from '../read-only-sql.js';
import type { CommandContext, CommandReport } from '../run-command.js';

export interface QueryRequest {
  sql?: string | undefined;
  lake: string;
  file?: string | undefined;
  format?: Format | undefined;
  output?: string | undefined;
  memory: string;
}

/**
 * Runs one SELECT over the published tables and streams its rows.
 * @throws PricelakeError `query` when DuckDB refuses the SQL, `usage` when none or two were given.
 */
export async function runQuery(request: QueryRequest, context: CommandContext): Promise<CommandReport | undefined> {
  const destination = { format: request.format, file: request.output };
  requireOneOwner(destination, context.json);
  requireMemory(request.memory);
  const sql = await readSql(request);
  const { lake: path, memory } = request;
  return readLake({ path, memory, signal: context.signal }, async ({ db, lake }) => {
    const credits = await readCredits(db);
    await lockDown(
      db,
      TABLE_NAMES.map((table) => tablePath(lake, table)),
    );
    try {
      const statement = await prepareSelect(db, sql);
      return await writeResult(toResultSet(await statement.stream(), credits), destination, context);
    } catch (error) {
      throw explainSqlError(error);
    }
  });
}

async function readSql({ sql, file }: QueryRequest): Promise<string> {
  if ((sql === undefined) === (file === undefined)) {
    throw new PricelakeError('usage', 'give the SQL as an argument or with --file, one of them', {
      hint: 'pricelake query "SELECT count(*) FROM items"',
    });
  }
  if (file === undefined) return sql ?? '';
  try {
    return await readFile(file, 'utf8');
  } catch (cause) {
    if (!hasSystemCode(cause, 'ENOENT', 'EISDIR', 'EACCES')) throw cause;
    throw new PricelakeError('usage', `--file ${file} cannot be read`, {}, { cause });
  }
}

function requireMemory(text: string): void {
  if (/^\d+(\.\d+)?\s*([KMGT]i?B)$/iu.test(text)) return;
  throw new PricelakeError('usage', `--memory ${text} is not a size such as 512MB or 2GB`);
}

/** DuckDB's message in one line, without the excerpt of the statement. */
function explainSqlError(error: unknown): unknown {
  if (!(error instanceof Error) || error instanceof PricelakeError) return error;
  const text = error.message.replace(/^Failed to extract statements: /u, '');
  if (!/^[A-Z][A-Za-z ]+ Error: /u.test(text) || /^(INTERRUPT|IO) Error/u.test(text)) return error;
  const [message = ''] = text.split(/\n\s*LINE \d+:/u);
  const hint = message.startsWith('Out of Memory') ? { hint: 'Give more with --memory, or ask for less at once.' } : {};
  return new PricelakeError('query', message.trim().replace(/\s*\n\s*/gu, ' '), hint, { cause: error });
}
