import { createReadStream, createWriteStream } from 'node:fs';
import { rm, writeFile } from 'node:fs/promises';
import { basename } from 'node:path';
import { finished } from 'node:stream/promises';
import { DuckDBTypeId } from '@duckdb/node-api';
import { PricelakeError } from '../../io/errors.js';
import { placeOutput, replaceOutput } from '../../io/output-file.js';
import { quoteIdentifier, quoteLiteral } from '../../sql/quote.js';
import type { CommandContext, CommandReport } from '../command.js';
import { toJsonText } from '../json-text.js';
import { renameMembers } from '../member-names.js';
import type { Format } from '../shared-options.js';
import { createStreamOutput, type Output } from './output.js';
import { DATATYPES, type Destination, type ForPeople, type ResultSet, selectColumns } from './result-set.js';
import { writeCreditedTable } from './table.js';
import { writeCsv, writeJson, writeNdjson, writeRows } from './text-formats.js';

/** The options of a command that set the format and the destination of its rows. */
export interface ResultRequest {
  format?: Format | undefined;
  /** The file to write to. Defaults to stdout. */
  output?: string | undefined;
}

const CREDITED: readonly Format[] = ['table', 'arrow', 'parquet'];

/**
 * Writes a result to a file or to stdout. With `--json` and no file, writes the rows as a member of the JSON object,
 * and returns undefined. Otherwise, returns the report for the JSON object. `forPeople` chooses the columns of a table.
 */
export async function writeResult(
  whole: ResultSet,
  request: ResultRequest,
  context: CommandContext,
  forPeople?: ForPeople,
): Promise<CommandReport | undefined> {
  const { io, output, json, signal } = context;
  const { format = 'table', output: file } = request;
  const shown = forPeople !== undefined && isForEyes(request, context) ? selectColumns(whole, forPeople) : whole;
  const result = { ...shown, batches: stopOnAbort(shown.batches, signal) };
  if (json && file === undefined) return writeJsonLine(result, output);
  const { credits, facts } = result;
  const rows = await writeFormat(result, format, file, output);
  const isBeside = credits.length > 0 && file !== undefined && !CREDITED.includes(format);
  const metadata = isBeside ? await writeMetadata(file, format, result) : undefined;
  const isOnScreen = format === 'table' && file === undefined;
  if (credits.length > 0 && !isOnScreen) io.log('info', 'attribution', { texts: credits, metadata });
  return { rows, file, format, attribution: credits, metadata, ...facts };
}

/** Returns the format and the destination of the rows. In the JSON object, rows are always in JSON. */
export function findDestination({ format = 'table', output }: ResultRequest, { json }: CommandContext): Destination {
  const isFile = output !== undefined;
  return { format: json && !isFile ? 'json' : format, isFile };
}

export const isForEyes = ({ format = 'table' }: ResultRequest, { json }: CommandContext): boolean =>
  !json && format === 'table';

/**
 * Checks the format and the destination. Commands call this before they read any data.
 * @throws PricelakeError `usage` if both `--json` and a format would write to stdout, if binary data would be written
 *   to a terminal, or if the file can't be written
 */
export async function requireDestination(
  { format, output: file }: ResultRequest,
  { json, output }: CommandContext,
): Promise<void> {
  if (file !== undefined) await placeOutput(file);
  if ((format === 'arrow' || format === 'parquet') && file === undefined && output.columns !== undefined) {
    throw new PricelakeError('usage', `can't write --format ${format} to a terminal`, {
      hint: 'Write to a file with --output, or pipe the output.',
    });
  }
  if (json && format !== undefined && file === undefined) {
    throw new PricelakeError('usage', `--json and --format ${format} would both write to stdout`, {
      hint: 'Remove one of them, or write to a file with --output.',
    });
  }
}

async function* stopOnAbort(batches: ResultSet['batches'], signal: AbortSignal): ResultSet['batches'] {
  for await (const batch of batches) {
    signal.throwIfAborted();
    yield batch;
  }
}

/** Writes the JSON object in pieces, so that a large result is never completely in memory. */
async function writeJsonLine(result: ResultSet, output: Output): Promise<undefined> {
  const columns = result.columns.map(({ name, type }) => ({ name, type: String(type) }));
  const head = toJsonText(renameMembers({ ok: true, ...result.facts, columns }));
  await output.write(`${head.slice(0, -1)},"rows":[`);
  const rows = await writeRows(result, output, ',');
  await output.write(`],"row_count":${rows},"attribution":${toJsonText(result.credits)}}\n`);
}

/** Writes a result in one format, and returns the number of rows. Stops early if the reader closes the pipe. */
type WriteFormat = (result: ResultSet, output: Output) => Promise<bigint>;

const WRITERS: Record<Exclude<Format, 'parquet'>, WriteFormat> = {
  table: writeCreditedTable,
  csv: writeCsv,
  json: writeJson,
  ndjson: writeNdjson,
  // The Arrow library is large, so it is loaded only when it is needed.
  arrow: async (result, output) => (await import('./arrow.js')).writeArrow(result, output),
};

export async function writeFormat(
  result: ResultSet,
  format: Format,
  file: string | undefined,
  output: Output,
): Promise<bigint> {
  if (format === 'parquet')
    return file === undefined
      ? streamParquet(result, output)
      : replaceOutput(file, (path) => writeParquet(result, path));
  if (file === undefined) return WRITERS[format](result, output);
  return replaceOutput(file, async (path) => {
    const stream = createWriteStream(path);
    const done = finished(stream);
    done.catch(() => {});
    const rows = await WRITERS[format](result, createStreamOutput(stream, file));
    stream.end();
    await done;
    return rows;
  });
}

/**
 * Writes a Parquet file with DuckDB, so that no row passes through JavaScript. In the metadata of the file,
 * `attribution` is a JSON array of the license texts.
 */
async function writeParquet({ columns, credits, relation, source }: ResultSet, path: string): Promise<bigint> {
  if (relation === undefined) throw new TypeError("this result can't be written as Parquet");
  // DuckDB would write 128-bit integers as DOUBLE, which would round them. A sum of BIGINT values has this type. As
  // DECIMAL, they stay exact.
  const wide = columns
    .filter(({ type }) => type.typeId === DuckDBTypeId.HUGEINT || type.typeId === DuckDBTypeId.UHUGEINT)
    .map(({ name }) => `CAST(${quoteIdentifier(name)} AS DECIMAL(38, 0)) AS ${quoteIdentifier(name)}`);
  const exact = wide.length === 0 ? '' : `REPLACE (${wide.join(', ')})`;
  const origin = source === undefined ? '' : `, source: ${quoteLiteral(source)}`;
  const metadata = `KV_METADATA {attribution: ${quoteLiteral(JSON.stringify(credits))}${origin}}`;
  const row = await relation.db.row(
    `COPY (SELECT * ${exact} FROM ${relation.from}) TO ${quoteLiteral(path)}
     (FORMAT parquet, COMPRESSION zstd, USE_TMP_FILE false, ${metadata})`,
  );
  return row?.Count as bigint;
}

/** Writes Parquet to stdout through a temporary file, because DuckDB writes Parquet only to files. */
async function streamParquet(result: ResultSet, output: Output): Promise<bigint> {
  const scratch = result.relation?.scratch ?? '';
  try {
    const rows = await writeParquet(result, scratch);
    for await (const chunk of createReadStream(scratch)) if (!(await output.write(chunk as Uint8Array))) break;
    return rows;
  } finally {
    await rm(scratch, { force: true });
  }
}

/**
 * Writes license texts and column types to `<file>-metadata.json`, in the format of W3C's CSV on the Web. CSV and JSON
 * files themselves have no place for metadata that every parser ignores. Returns the path.
 */
async function writeMetadata(file: string, format: Format, { columns, credits }: ResultSet): Promise<string> {
  const path = `${file}-metadata.json`;
  const described = columns.map(({ name, type }) => ({
    titles: name,
    datatype: DATATYPES.get(type.typeId) ?? 'string',
  }));
  const metadata = {
    '@context': 'http://www.w3.org/ns/csvw',
    url: basename(file),
    'dc:format': format,
    'dc:rights': credits,
    tableSchema: { columns: described },
  };
  await replaceOutput(path, (part) => writeFile(part, `${toJsonText(metadata)}\n`));
  return path;
}
