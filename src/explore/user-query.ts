import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { DuckDBConnection } from '@duckdb/node-api';
import pLimit from 'p-limit';
import { type ErrorCode, PricelakeError } from '../io/errors.js';
import { packagePath } from '../io/package-path.js';
import { quoteLiteral } from '../sql/quote.js';
import { requireUserSelect } from '../sql/user-select.js';
import { readProcessMemory } from './process-memory.js';
import type { Snapshot } from './snapshot.js';

export interface UserQuery {
  sql: string;
  limit: number;
  offset?: number | undefined;
  signal: AbortSignal;
  /** The time limit of the statement in milliseconds. */
  most: number;
}

/** Runs at most two statements at a time, because each may use as much memory as its limit. */
const inTurn = pLimit(2);
/** The time in milliseconds to start the process and open the lake. Preparing past prices takes up to `PREPARE_MS`. */
const START_MS = 60_000;
const PREPARE_MS = 600_000;
const MOST_RESULT_BYTES = 64 * 1024 * 1024;

/**
 * Runs a reader's SELECT in a separate process, because DuckDB can't limit or interrupt the computation of a single
 * value. Calls `use` with a query of the result, which has at most `limit` + 1 rows.
 * @throws PricelakeError `query` if the statement is not a SELECT, fails, or takes too much time or memory
 */
export function withUserRows<T>(
  snapshot: Snapshot,
  query: UserQuery,
  use: (connection: DuckDBConnection, rows: string) => Promise<T>,
): Promise<T> {
  return inTurn(async () => {
    query.signal.throwIfAborted();
    const name = join(snapshot.scratch, randomUUID());
    const [input, output] = [`${name}.sql`, `${name}.parquet`];
    const plain = query.sql.replace(/[\s;]+$/u, '');
    try {
      const check = (connection: DuckDBConnection) => requireUserSelect(connection, plain, 'tables');
      if (await snapshot.lend([], query.signal, check)) {
        const message = 'only SELECT, FROM, WITH, VALUES, DESCRIBE and SUMMARIZE are allowed';
        throw new PricelakeError('query', message, { hint: 'For EXPLAIN, use `pricelake query`.' });
      }
      const { limit, offset = 0 } = query;
      await writeFile(input, `FROM (${plain}\n) LIMIT ${limit + 1} OFFSET ${offset}`, { mode: 0o600 });
      await runProcess(snapshot, describeCommand(snapshot, input, output), query);
      if ((await stat(output)).size > MOST_RESULT_BYTES) {
        throw new PricelakeError('query', 'the result is larger than 64 MiB', {
          hint: 'Select fewer columns or rows.',
        });
      }
      const read = `SELECT * FROM read_parquet(${quoteLiteral(output)})`;
      return await snapshot.lend([], query.signal, (connection) => use(connection, read));
    } finally {
      await Promise.all([input, output].map((file) => rm(file, { force: true })));
    }
  });
}

function describeCommand({ version }: Snapshot, input: string, output: string): string[] {
  const { root, memory, rates } = version.facts.source;
  const fx = rates === undefined ? [] : ['--fx', rates.file, '--fx-base', rates.base];
  const limits = ['--memory', memory, ...fx];
  return [
    'query',
    '--lake',
    root,
    '--file',
    input,
    '--format',
    'parquet',
    '--output',
    output,
    '--json',
    '-v',
    ...limits,
  ];
}

/** Runs the command in a process whose environment has no secrets, because the command doesn't call the service. */
function runProcess({ version }: Snapshot, command: string[], { sql, signal, most }: UserQuery): Promise<void> {
  const { PATH, TMPDIR, HOME, XDG_CACHE_HOME } = process.env;
  const env = { PATH, TMPDIR, HOME, XDG_CACHE_HOME };
  const child = spawn(process.execPath, [packagePath('dist/cli/main.js'), ...command], {
    ...{ env, signal, killSignal: 'SIGKILL', stdio: ['ignore', 'pipe', 'pipe'] },
  });
  let fault: PricelakeError | undefined;
  const end = (reason: PricelakeError) => {
    fault ??= reason;
    child.kill('SIGKILL');
  };
  const late = (ms: number) => setTimeout(() => end(explainLate(ms)), ms);
  let timer = late(/price_spells/iu.test(sql) ? PREPARE_MS : START_MS);
  const watch = watchMemory(child.pid ?? 0, boundMemory(version.facts.source.memory), end);
  const texts = { stdout: '', stderr: '' };
  child.stdout.on('data', (chunk) => {
    texts.stdout += chunk;
  });
  child.stderr.on('data', (chunk) => {
    texts.stderr += chunk;
    if (!texts.stderr.includes(BEGUN)) return;
    texts.stderr = '';
    clearTimeout(timer);
    timer = late(most);
  });
  return new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('close', (code) => {
      clearTimeout(timer);
      clearInterval(watch);
      if (code === 0) resolve();
      else reject(signal.aborted ? signal.reason : (fault ?? readFault(texts.stdout)));
    });
  });
}

/** The event that `query --verbose` logs before it runs the statement. */
const BEGUN = 'query.begins';
/**
 * Milliseconds between checks of memory use. Without /proc, each check starts a process, so memory is checked less
 * often.
 */
const WATCH_MS = process.platform === 'linux' ? 25 : 250;

function explainLate(ms: number): PricelakeError {
  const hint = 'Select fewer rows, or use `pricelake query`.';
  return new PricelakeError('query', `the query took longer than ${ms / 1000} seconds and was stopped`, { hint });
}

/** Stops a process that uses too much memory. Asks the operating system, because DuckDB doesn't count all memory. */
function watchMemory(pid: number, mostBytes: number, end: (reason: PricelakeError) => void): NodeJS.Timeout {
  const look = async () => {
    if ((await readProcessMemory(pid)) < mostBytes) return;
    const message = 'the query used too much memory and was stopped';
    end(new PricelakeError('query', message, { hint: 'Query less data at once, or use shorter text.' }));
  };
  return setInterval(look, WATCH_MS).unref();
}

/** The memory that the program needs besides DuckDB, in bytes. */
const PROGRAM_BYTES = 200_000_000;

/**
 * Returns the process's memory limit in bytes. Allows twice DuckDB's limit, because DuckDB doesn't count all memory.
 */
function boundMemory(memory: string): number {
  const [, count, unit = ''] = /^([\d.]+)\s*([KMGT])/iu.exec(memory) ?? [];
  return 2 * Number(count) * 1000 ** ('KMGT'.indexOf(unit.toUpperCase()) + 1) + PROGRAM_BYTES;
}

function readFault(stdout: string): PricelakeError {
  try {
    const { error } = JSON.parse(stdout.trimEnd().split('\n').at(-1) ?? '') as { error: Record<string, string> };
    const { code, message = '', hint } = error;
    return new PricelakeError(code as ErrorCode, message, hint === undefined ? {} : { hint });
  } catch {
    return new PricelakeError('query', 'the query process ended without a result');
  }
}
