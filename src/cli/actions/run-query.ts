import type { DuckDBValue } from '@duckdb/node-api';
import { listAnalyses, readQuestion, setVariables } from '../../analyze/analysis.js';
import { prepareConversion } from '../../analyze/exchange-rates.js';
import { resolveKnown } from '../../analyze/known-values.js';
import { toDate } from '../../analyze/spread-selection.js';
import {
  checkSet,
  describeType,
  readDeclarations,
  readVariables,
  requireRead,
  type Variable,
} from '../../analyze/variables.js';
import { loadTree, loadWeights } from '../../analyze/weights.js';
import { hasSystemCode, PricelakeError } from '../../io/errors.js';
import { placeOutput } from '../../io/output-file.js';
import { readUserText } from '../../io/user-text.js';
import { nameDamage } from '../../lake/damage.js';
import { explainFileFault, isLostFile } from '../../lake/file-fault.js';
import { type Database, interruptOnAbort } from '../../sql/connection.js';
import { readAnalysis } from '../../sql/model.js';
import { quoteLiteral } from '../../sql/quote.js';
import { lockDown } from '../../sql/read-only-sql.js';
import { prepareUserSelect } from '../../sql/user-select.js';
import { tablePath } from '../../tables/layout.js';
import { TABLE_NAMES, type TableName } from '../../tables/table.js';
import type { Arguments, CommandContext } from '../command.js';
import type { query } from '../commands/query.js';
import { type QuerySource, readSource } from '../explain-source.js';
import { explainSqlError } from '../explain-sql-error.js';
import { chooseRemote, findTarget } from '../find-target.js';
import { describeLakes, joinLakes } from '../join-lakes.js';
import { toJsonText } from '../json-text.js';
import { hangText, wrapText } from '../output/display-width.js';
import { readStatement } from '../output/result-set.js';
import { findDestination, requireDestination, writeResult } from '../output/write-result.js';
import { toPlainLine, toTerminalText } from '../plain-text.js';
import { openSpells } from '../prepare-spells.js';
import { readCredits, readLake } from '../read-lake.js';

/**
 * Runs SQL from an argument, a file, an analysis or the prompt.
 * @throws PricelakeError `query` if DuckDB rejects the SQL
 * @throws PricelakeError `usage` if no SQL is given, or if it is given in more than one way
 */
export async function runQuery(request: Arguments<typeof query>, context: CommandContext) {
  const { memory, output, fx, weights, tree } = request;
  if (request.analysis === '') return showAnalyses(context);
  await requireDestination(request, context);
  const given = [request.sql, request.file, request.analysis].some((one) => one !== undefined);
  const sql = given || context.prompter === undefined ? await readSql(request) : undefined;
  const set = Object.fromEntries(request.set ?? []);
  const declared = sql === undefined ? undefined : declareVariables(request, sql);
  if (sql !== undefined) checkSql(request, sql, declared, set);
  const { lake: path } = await findTarget({ lake: await joinLakes(request, context) });
  const remote = chooseRemote(request, context.io);
  const tables = (db: Database) => (remote === undefined || sql === undefined ? TABLE_NAMES : findTables(db, sql));
  const asOf = request.asOf === undefined ? undefined : BigInt(request.asOf);
  return readLake({ path, remote, tables, memory, asOf, ...context }, async (opened) => {
    const { db, lake, scratch } = opened;
    const credits = await readCredits(db);
    if (request.fx !== undefined) await prepareConversion(db, { file: request.fx, base: request.fxBase ?? 'EUR' });
    const known = await resolveKnown(db, declared ?? [], set, tables(db));
    await setVariables(db, Object.fromEntries(Object.entries(known).map(toVariable)));
    const by = weights === undefined ? {} : await prepareWeights(db, weights, tree, known);
    const lakes = await describeLakes(request.lake, db);
    const settings = { ...known, ...by, ...lakes, ...(fx === undefined ? {} : { base: request.fxBase ?? 'EUR' }) };
    const hasSpells = remote === undefined || sql === undefined || listNames(db, sql).includes(SPELLS);
    const spells = hasSpells ? await openSpells(opened, context.io) : undefined;
    const folders = TABLE_NAMES.map((table) => tablePath(lake, table));
    await lockDown(db, spells === undefined ? folders : [...folders, spells.folder], [
      scratch,
      ...(output === undefined ? [] : [(await placeOutput(output)).path]),
    ]);
    const describe = (one: string) =>
      readSource(opened, { sql: one, tables: findTables(db, one), settings, files: { fx, weights, tree } });
    const run = async (one: string) => {
      try {
        if (listNames(db, one).includes(SPELLS)) await spells?.prepare();
        context.io.log('debug', 'query.begins');
        const statement = await prepareUserSelect(db.connection, one, 'files');
        const source = await describe(one);
        if (request.explainSource === true) return await showSource(source, context);
        const from = `query(${quoteLiteral(one)})`;
        const select = { connection: db.connection, statement, from };
        const result = await readStatement(select, findDestination(request, context));
        const relation = { db, from, scratch };
        return await writeResult({ ...result, credits, relation, source: toJsonText(source) }, request, context);
      } catch (error) {
        throw isLostFile(error) ? error : explainSqlError(nameDamage(lake.root, explainFileFault(error)));
      }
    };
    if (sql !== undefined) return run(sql);
    let stop = new AbortController();
    const runUntilStopped = async (one: string) => {
      stop = new AbortController();
      const release = interruptOnAbort(db.connection, stop.signal);
      return run(one).finally(release);
    };
    await (await import('./query-prompt.js')).promptQueries(context, runUntilStopped, () => stop.abort());
    return undefined;
  });
}

async function showAnalyses({ json, output }: CommandContext) {
  const analyses = listAnalyses().map((name) => ({
    name,
    question: readQuestion(name),
    variables: readVariables(name).map((one) => ({ ...one, type: describeType(one) })),
  }));
  const width = Math.max(...analyses.map(({ name }) => name.length)) + 2;
  const lines = analyses.flatMap(({ name, question, variables }) => [
    hangText(name.padEnd(width), toPlainLine(question), output.columns),
    ...(variables.length === 0
      ? []
      : [hangText(' '.repeat(width), `Variables: ${variables.map(showVariable).join(', ')}.`, output.columns)]),
  ]);
  const advice =
    'Run one with pricelake query --analysis NAME --set VARIABLE=VALUE. pricelake help reference/analyses describes their results and variables.';
  if (!json) await output.write(`${lines.join('\n')}\n\n${wrapText(advice, output.columns)}\n`);
  return { analyses };
}

/**
 * Describes a variable, for example as `period (month | week | day; default week)`. Shows the type of a variable only
 * if the type is a list of choices.
 */
function showVariable(variable: Variable): string {
  const { name, kind, isRequired } = variable;
  const value = kind === 'choice' || kind === 'choices' ? describeType(variable) : undefined;
  const parts = [value, isRequired ? 'required' : variable.default && `default ${variable.default}`].filter(Boolean);
  return parts.length === 0 ? name : `${name} (${parts.join('; ')})`;
}

const SPELLS = 'price_spells';

/**
 * Lists the tables that a statement uses, either directly or through the price_spells view. Also includes `sites`,
 * which contains the attributions.
 */
function findTables(db: Database, sql: string): TableName[] {
  const named = listNames(db, sql);
  const behind = named.includes(SPELLS) ? listNames(db, readAnalysis(SPELLS)) : [];
  return TABLE_NAMES.filter((table) => table === 'sites' || named.includes(table) || behind.includes(table));
}

/**
 * Lists the tables and views that a statement uses, in lower case. DuckDB returns no names for a statement that has
 * parameters or joins with USING. In that case, this returns all words of the statement, because any of them may name a
 * table.
 */
function listNames(db: Database, sql: string): string[] {
  const words = () => sql.toLowerCase().match(/\w+/gu) ?? [];
  try {
    const names = db.connection.getTableNames(sql, false).map((name) => name.toLowerCase());
    return names.length > 0 ? names : words();
  } catch {
    return []; // the statement can't be parsed, so it will be rejected later
  }
}

/**
 * Converts the text of a date to a DATE. Any other value stays text, which the queries in pipelines/analysis cast to
 * the type that they need.
 */
function toVariable([name, value]: readonly [string, string]): [string, DuckDBValue] {
  return [name, /^\d{4}-\d{2}-\d{2}$/u.test(value) && !Number.isNaN(Date.parse(value)) ? toDate(value) : value];
}

/**
 * Returns the variables that an analysis or the header of a file declares. Returns undefined if no variable is
 * declared.
 */
function declareVariables({ analysis, file }: Arguments<typeof query>, sql: string): Variable[] | undefined {
  if (analysis !== undefined) return readVariables(analysis);
  const declared = readDeclarations(sql, file ?? 'the SQL');
  return declared.length === 0 ? undefined : declared;
}

/**
 * Checks the variables that the user set.
 * @throws PricelakeError `usage` if the SQL doesn't use one of them, or doesn't allow its value
 */
function checkSql(
  { analysis, file }: Arguments<typeof query>,
  sql: string,
  declared: readonly Variable[] | undefined,
  set: Readonly<Record<string, string>>,
): void {
  const subject = analysis ?? file ?? 'the SQL';
  if (declared === undefined) requireRead(subject, sql, set);
  // The variable `base` isn't required here, because --fx sets it. Without --fx, a query that converts prices fails
  // later.
  else
    checkSet(
      subject,
      declared.map((one) => (one.name === 'base' ? { ...one, isRequired: false } : one)),
      set,
    );
}

async function readSql({ sql, file, analysis }: Arguments<typeof query>): Promise<string> {
  if ([sql, file, analysis].filter((given) => given !== undefined).length !== 1) {
    throw new PricelakeError('usage', 'pass the SQL in one way only: as an argument, with --file or with --analysis', {
      hint: 'For example: pricelake query "SELECT count(*) FROM items"',
    });
  }
  if (analysis !== undefined) return readAnalysis(analysis);
  if (file === undefined) return sql ?? '';
  try {
    return await readUserText(file);
  } catch (cause) {
    if (!hasSystemCode(cause, 'ENOENT', 'EISDIR', 'EACCES')) throw cause;
    throw new PricelakeError('usage', `can't read --file ${file}`, {}, { cause });
  }
}

/**
 * Loads a file of weights. Each weight belongs to a category, a shop or another unit. Sets the variable `by` to the
 * name of that unit, for which the query then computes the index.
 */
async function prepareWeights(
  db: Database,
  weights: string,
  tree: string | undefined,
  { by }: Readonly<Record<string, string>>,
): Promise<{ by: string }> {
  const unit = await loadWeights(db, weights);
  await loadTree(db, tree);
  if (by !== undefined && by !== unit) {
    throw new PricelakeError('usage', `by=${by} conflicts with ${weights}, which has weights by ${unit}`, {
      hint: 'Remove --set by=…, because the --weights file determines it.',
    });
  }
  await setVariables(db, { by: unit });
  return { by: unit };
}

async function showSource(source: QuerySource, { json, output }: CommandContext) {
  if (json) return { source };
  const { sql, ...facts } = source;
  const lines = Object.entries(facts).map(
    ([name, value]) => `${name}: ${typeof value === 'string' ? value : toJsonText(value)}`,
  );
  await output.write(`${lines.map(toPlainLine).join('\n')}\n\n${toTerminalText(sql)}\n`);
  return undefined;
}
