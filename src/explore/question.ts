import type { DuckDBConnection, DuckDBResultReader, DuckDBType, DuckDBValue } from '@duckdb/node-api';
import { isOutOfMemory, PricelakeError } from '../io/errors.js';
import { interruptOnAbort } from '../sql/connection.js';
import { bindQuery, readAnalysis } from '../sql/model.js';
import { quoteIdentifier, quoteLiteral } from '../sql/quote.js';
import { Sql } from '../sql/sql.js';
import type { Snapshot } from './snapshot.js';

/** A query that a page runs: an analysis, the values of its variables, and which rows to return. */
export interface Question {
  analysis: string;
  /** Values by variable name. A missing or empty variable is not set. */
  set: Readonly<Record<string, string>>;
  order?: { by: string; isDescending: boolean } | undefined;
  /** The number of rows to skip; 0 by default. */
  offset?: number;
  limit: number;
}

export interface Answer {
  columns: { name: string; type: DuckDBType }[];
  rows: DuckDBValue[][];
  /** True if the query has more rows than `limit`. */
  hasMore: boolean;
}

/** The time limit of a statement in milliseconds. */
export const QUESTION_MS = 30_000;

/** Lists the variables that have a value. */
export const listVariables = ({ set }: Pick<Question, 'set'>): [string, string][] =>
  Object.entries(set).filter(([, value]) => value !== '');

/** Returns SQL that an analyst can run: statements that set the variables, followed by the text of the analysis. */
export function showSql(question: Pick<Question, 'analysis' | 'set'>): string {
  const set = listVariables(question).map(([name, value]) => `SET VARIABLE ${name} = ${quoteLiteral(value)};\n`);
  return `${set.join('')}${readAnalysis(question.analysis)}`;
}

const OWN_ORDER = '\nORDER BY ';

/** Cached answers by snapshot. They stay valid, because the data of a snapshot never changes. */
const answers = new WeakMap<Snapshot, Map<string, Answer>>();
const MOST_ANSWERS = 100;

/**
 * Runs a query, or returns its cached answer. The latest answers of each snapshot are cached.
 * @throws PricelakeError `query` if DuckDB refuses a variable or the query takes too long
 */
export async function ask(snapshot: Snapshot, question: Question, signal: AbortSignal): Promise<Answer> {
  const kept = answers.get(snapshot) ?? new Map<string, Answer>();
  answers.set(snapshot, kept);
  const key = JSON.stringify(question);
  const answer = kept.get(key) ?? (await askAfresh(snapshot, question, signal));
  kept.delete(key);
  kept.set(key, answer);
  for (const oldest of kept.keys()) if (kept.size > MOST_ANSWERS) kept.delete(oldest);
  return answer;
}

async function askAfresh(snapshot: Snapshot, question: Question, signal: AbortSignal): Promise<Answer> {
  const { order, offset = 0, limit, set } = question;
  const query = sortQuery(bindAnalysis(snapshot, question), order);
  try {
    return await withVariables(snapshot, set, signal, async (connection) =>
      toAnswer(await connection.runAndReadAll(`${query} LIMIT ${limit + 1} OFFSET ${offset}`), limit),
    );
  } catch (error) {
    throw explainMemory(error);
  }
}

/**
 * If an analysis ran out of memory, returns an error that suggests the command line, where more memory is available.
 */
function explainMemory(error: unknown): unknown {
  if (!isOutOfMemory(error)) return error;
  const [message = ''] = error.message.split('\n', 1);
  const hint = 'Query less data at once, or use `pricelake query --memory SIZE`.';
  return new PricelakeError('query', message, { hint }, { cause: error });
}

/** Applies the reader's sort order. Replaces the query's own ORDER BY, because sorting all rows twice takes seconds. */
function sortQuery(query: string, order: Question['order']): string {
  if (order === undefined) return `FROM (${query}\n)`;
  const by = `${quoteIdentifier(order.by)} ${order.isDescending ? 'DESC' : 'ASC'} NULLS LAST`;
  const [last = '', ...before] = query.split(OWN_ORDER).reverse();
  // Unbalanced parentheses after the last ORDER BY mean that it belongs to a nested query.
  const isOwn = before.length > 0 && !last.includes('\nLIMIT ') && last.split('(').length === last.split(')').length;
  return isOwn
    ? `FROM (${before.reverse().join(OWN_ORDER)}${OWN_ORDER}${by}, ${last}\n)`
    : `FROM (${query}\n) ORDER BY ${by}`;
}

/**
 * Returns the SQL of an analysis over prepared rows. If `with_suspects` is set, the SQL computes price spells (periods
 * with one price) afresh, because stored spells were computed without this variable.
 */
export function bindAnalysis(
  { prepared, version }: Snapshot,
  { analysis, set }: Pick<Question, 'analysis' | 'set'>,
): string {
  const isSet = (name: string) => (set[name] ?? '') !== '';
  // Prepared rows use the pipeline file's time zone, so another time zone needs the lake's own rows.
  if (isSet('time_zone')) return bindSpells(readAnalysis(analysis));
  const kept = version.moves.find(analysis, set);
  if (kept !== undefined) return kept;
  const query = readAnalysis(analysis, prepared);
  return isSet('with_suspects') ? bindSpells(query) : query;
}

function bindSpells(query: string): string {
  return bindQuery(query, { price_spells: new Sql(readAnalysis('price_spells')) }).text;
}

/**
 * Runs `work` with a session that has exactly these variables. `most` limits the time of `work` in milliseconds, and
 * doesn't count the wait for a free session.
 * @throws PricelakeError `query` if `work` takes too long
 */
export function withVariables<T>(
  snapshot: Snapshot,
  set: Question['set'],
  signal: AbortSignal,
  work: (connection: DuckDBConnection) => Promise<T>,
  most = QUESTION_MS,
): Promise<T> {
  return snapshot.lend(listVariables({ set }), signal, async (connection) => {
    const late = AbortSignal.timeout(most);
    const release = interruptOnAbort(connection, late);
    try {
      return await work(connection);
    } catch (error) {
      if (!late.aborted || signal.aborted) throw error;
      const message = `the query took longer than ${most / 1000} seconds and was stopped`;
      throw new PricelakeError(
        'query',
        message,
        { hint: 'Select fewer rows, or use `pricelake query`.' },
        { cause: error },
      );
    } finally {
      release();
    }
  });
}

export function toAnswer(reader: DuckDBResultReader, limit: number): Answer {
  const types = reader.columnTypes();
  const columns = reader.deduplicatedColumnNames().map((name, k) => ({ name, type: types[k] as DuckDBType }));
  const rows = reader.getRows();
  return { columns, rows: rows.slice(0, limit), hasMore: rows.length > limit };
}
