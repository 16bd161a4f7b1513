import { StatementType } from '@duckdb/node-api';
import { PricelakeError } from '../io/errors.js';
import { Database } from '../sql/connection.js';
import { quoteIdentifier } from '../sql/quote.js';
import { loadTableSchema } from '../tables/schemas.js';
import { TABLE_NAMES } from '../tables/table.js';
import type { Check } from './check.js';
import { requireScopes } from './require-scope.js';

/**
 * Refuses checks that would not run: each is one SELECT that binds to the tables of schemas/ and follows its scope. It needs
 * no lake and comes before a run, because at the run's end a whole copy may have been paid for.
 * @throws PricelakeError `config` that names file and line.
 */
export async function bindChecks(checks: readonly Check[]): Promise<void> {
  if (checks.length === 0) return;
  const db = await Database.open();
  try {
    for (const table of TABLE_NAMES) {
      const columns = loadTableSchema(table).columns.map(({ name, type }) => `${quoteIdentifier(name)} ${type}`);
      await db.run(`CREATE TABLE ${quoteIdentifier(table)} (${columns.join(', ')})`);
    }
    for (const check of checks) await bindCheck(db, check);
    await requireScopes(db, checks);
  } finally {
    await db.close();
  }
}

async function bindCheck(db: Database, check: Check): Promise<void> {
  try {
    const statements = await db.connection.extractStatements(check.sql);
    if (statements.count !== 1) throw refuse(check, `${statements.count} statements`);
    const { statementType } = await statements.prepare(0);
    if (statementType !== StatementType.SELECT) throw refuse(check, `${StatementType[statementType]}`);
  } catch (cause) {
    throw explainCheckError(check, cause);
  }
}

function refuse({ file }: Check, found: string): PricelakeError {
  return new PricelakeError('config', `${file}: a check is one SELECT whose rows are violations, here is ${found}`);
}

/** DuckDB's errors that are not the fault of the check's SQL. */
const NOT_ITS_OWN = /^(Out of Memory|IO|INTERRUPT|INTERNAL|FATAL|HTTP|Permission) Error/u;

/** Adds file and line to an error of the check's SQL. Other errors (out of memory, a damaged file) pass through. */
export function explainCheckError({ file }: Check, cause: unknown): unknown {
  const text = cause instanceof Error ? cause.message.replace(/^Failed to extract statements: /u, '') : '';
  if (cause instanceof PricelakeError) return cause;
  // DuckDB's binding says only this for a text without a statement.
  if (text === 'Error in native callback')
    return new PricelakeError('config', `${file}: there is no SQL`, {}, { cause });
  if (!/^[A-Z][\w ]* Error: /u.test(text) || NOT_ITS_OWN.test(text)) return cause;
  const [, line] = /\n\s*LINE (\d+):/u.exec(text) ?? [];
  const [reason = ''] = text.split(/\n\s*LINE \d+:/u);
  const where = line === undefined ? file : `${file}:${line}`;
  const message = `${where}: the check does not run: ${reason.trim().replace(/\s*\n\s*/gu, ' ')}`;
  return new PricelakeError('config', message, {}, { cause });
}
