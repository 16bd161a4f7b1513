import { randomUUID } from 'node:crypto';
import { chmod, mkdir, readdir, rm, stat, writeFile } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import type { DuckDBPreparedStatement } from '@duckdb/node-api';
import { listRead } from '../analyze/variables.js';
import { parseRemoteUrl, type RemoteUrl } from '../formats/remote-url.js';
import { PricelakeError } from '../io/errors.js';
import { packagePath } from '../io/package-path.js';
import { makeScratchFolder } from '../io/scratch-folder.js';
import type { Database } from '../sql/connection.js';
import { escapeGlob, quoteIdentifier, quoteLiteral } from '../sql/quote.js';
import { privatePath } from '../tables/layout.js';
import { Submission } from '../workers/submission.js';
import type { QuerySource } from './explain-source.js';
import type { OpenedLake } from './read-lake.js';
import type { CliIo } from './terminal-io.js';

export interface SparkQuestion {
  analysis: string;
  /** SQL of the analysis as DuckDB runs it. */
  sql: string;
  /** Variables that are set, as DuckDB would get them. */
  set: Readonly<Record<string, string>>;
  /** Versions of the tables that it reads. */
  source: Pick<QuerySource, 'versions'>;
  /** The user's own files by option. */
  files: { readonly [K in 'fx' | 'fxBase' | 'weights' | 'tree']?: string | undefined };
}

interface SparkWorld {
  /** The program that submits, and its options. */
  submit: readonly string[];
  /** Address of the lake, if Spark reads it from object storage. */
  remote?: string | undefined;
  io: Pick<CliIo, 'log'>;
  signal: AbortSignal;
}

export interface SparkAnswer {
  /** SQL of the rows, in the order of the analysis and with DuckDB's types. */
  from: string;
  /** Version of Spark. */
  spark: string;
}

const HINT = 'Run the same command again, or without --engine spark.';
const SPELLS = 'price_spells';

/** The folder in which `askSpark` leaves the rows. SQL must be allowed to read it. */
export const answerFolder = ({ scratch }: Pick<OpenedLake, 'scratch'>): string => join(dirname(scratch), 'answer');

/**
 * Runs an analysis on a Spark cluster by pipelines/spark/spread.py, over the versions of tables that this process sees.
 * @throws PricelakeError `unavailable` with the last words of the program
 */
export async function askSpark(
  { db, lake, scratch }: OpenedLake,
  question: SparkQuestion,
  statement: DuckDBPreparedStatement,
  { submit, remote, io, signal }: SparkWorld,
): Promise<SparkAnswer> {
  signal.throwIfAborted();
  const folder = answerFolder({ scratch });
  const stored = remote === undefined ? undefined : parseRemoteUrl(remote);
  const work = stored === undefined ? await makeWorkFolder(lake) : undefined;
  try {
    const root = stored === undefined ? `file://${resolve(lake.root)}` : showHadoopUrl(stored);
    const to = work === undefined ? `${root}/_pricelake/answers/${nameAnswer(new Date())}` : `file://${work}`;
    const file = join(dirname(folder), 'arguments.json');
    // Characters beyond ASCII reach Java by a command line only in some locales.
    await writeFile(file, JSON.stringify(writeArguments(question, { root, to, folder })), { mode: 0o600 });
    io.log('info', 'spark.asked', { analysis: question.analysis });
    const settings = stored === undefined ? [] : listSettings(stored);
    await submitProgram(
      [...submit, ...settings, packagePath('pipelines/spark/spread.py'), '--arguments', file],
      signal,
    );
    return await readAnswer(db, folder, statement);
  } finally {
    if (work !== undefined) await rm(work, { recursive: true, force: true });
  }
}

/** A folder in the lake, where machines of the cluster write steps of the work; only as closed as the lake itself. */
async function makeWorkFolder(lake: OpenedLake['lake']): Promise<string> {
  const parent = privatePath(lake, 'answers');
  try {
    await mkdir(parent, { recursive: true });
    const folder = await makeScratchFolder('answer', parent);
    await chmod(folder, (await stat(parent)).mode & 0o777);
    return resolve(folder);
  } catch (cause) {
    throw new PricelakeError(
      'lake_read_only',
      `can't write ${parent}, where a cluster keeps the steps of its work`,
      { hint: 'Let this user write there, or drop --engine spark.' },
      { cause },
    );
  }
}

/** `spread.py` removes those of killed programs by the time in their names. */
const nameAnswer = (now: Date) => `${now.toISOString().slice(0, 19).replaceAll(':', '-')}-${randomUUID()}`;

const showHadoopUrl = ({ bucket, prefix }: RemoteUrl) =>
  prefix === '' ? `s3a://${bucket}` : `s3a://${bucket}/${prefix}`;

/** The address in Hadoop's settings. Spark has credentials of its own. */
function listSettings({ endpoint, region, pathStyle }: RemoteUrl): string[] {
  const settings = {
    endpoint,
    'endpoint.region': region,
    'path.style.access': pathStyle ? 'true' : undefined,
  };
  return Object.entries(settings).flatMap(([name, value]) =>
    value === undefined ? [] : ['--conf', `spark.hadoop.fs.s3a.${name}=${value}`],
  );
}

function writeArguments(
  { analysis, sql, set, source, files }: SparkQuestion,
  { root, to, folder }: { root: string; to: string; folder: string },
): string[] {
  const read = listRead(sql);
  const versions = Object.entries(source.versions).map(([table, version]) => `${table}=${version}`);
  const tables = [...(new RegExp(`\\b${SPELLS}\\b`, 'u').test(sql) ? [SPELLS] : []), analysis];
  const given = Object.entries({
    fx: files.fx,
    'fx-base': files.fx === undefined ? undefined : (files.fxBase ?? 'EUR'),
    weights: files.weights,
    tree: files.tree,
  }).flatMap(([name, path]) => (path === undefined ? [] : [`--${name}`, path]));
  const variables = Object.entries(set).filter(([name]) => name !== 'base' && read.has(name));
  return [
    ...['--lake', root, '--to', to, '--copy-to', folder],
    ...['--tables', tables.join(','), '--versions', versions.join(',')],
    ...given,
    ...variables.flatMap(([name, value]) => ['--set', `${name}=${value}`]),
  ];
}

async function submitProgram(command: readonly string[], signal: AbortSignal): Promise<void> {
  const key = process.env.PRICELAKE_API_KEY ?? '';
  const submission = new Submission(command, key === '' ? [] : [key], HINT);
  let isStopped = false;
  const stopped = new Promise<never>((_, reject) => {
    const stop = () => {
      isStopped = true;
      reject(signal.reason);
    };
    signal.addEventListener('abort', stop, { once: true });
    if (signal.aborted) stop();
  });
  stopped.catch(() => {}); // also after the program has ended
  try {
    await Promise.race([submission.done, stopped]);
  } finally {
    await submission.end(isStopped);
  }
}

/** Files of Spark have the order of its rows in their names. Numbers of 128 bits are decimals there. */
async function readAnswer(
  db: Pick<Database, 'rows'>,
  folder: string,
  statement: DuckDBPreparedStatement,
): Promise<SparkAnswer> {
  const names = (await readdir(folder).catch(() => [])).filter((name) => name.endsWith('.parquet')).sort();
  if (names.length === 0) {
    throw new PricelakeError('unavailable', 'Spark has ended, but there is no answer on this machine', {
      hint: 'Submit in client mode, which is the default of spark-submit: --deploy-mode cluster has its driver elsewhere.',
    });
  }
  const columns = Array.from({ length: statement.columnCount }, (_, at) => {
    const name = quoteIdentifier(statement.columnName(at));
    return `CAST(${name} AS ${statement.columnType(at)}) AS ${name}`;
  });
  const files = names.map((name) => quoteLiteral(escapeGlob(join(folder, name))));
  const facts = await db.rows(
    `SELECT decode(value) AS version FROM parquet_kv_metadata(${files[0]})
     WHERE decode(key) = 'org.apache.spark.version'`,
  );
  return {
    from: `(SELECT ${columns.join(', ')} FROM read_parquet([${files.join(', ')}]))`,
    spark: String(facts[0]?.version ?? 'unknown'),
  };
}
