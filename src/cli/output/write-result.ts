import { createWriteStream } from 'node:fs';
import { finished } from 'node:stream/promises';
import { PricelakeError } from '../../io/errors.js';
import type { CommandContext, CommandReport } from '../command.js';
import { toJsonText } from '../json-text.js';
import { toPlainLine } from '../plain-text.js';
import type { Format } from '../shared-options.js';
import { writeMetadata } from './metadata.js';
import { createStreamOutput, type Output } from './output.js';
import { type ResultSet, type ShowValue, selectColumns } from './result-set.js';
import { writeRows } from './text-formats.js';

export interface ResultDestination {
  format: Format | undefined;
  /** A file instead of stdout. */
  file: string | undefined;
}

/** Formats that hold credits. */
const CREDITED: readonly Format[] = ['table', 'arrow', 'parquet'];

/**
 * Writes a result in a format to stdout or to a file, or with `--json` inside the one line. Returns the report of that
 * line, undefined if the line is already written.
 * @throws PricelakeError `usage` if `--json` and a format would share stdout, or for bytes on a terminal
 */
export async function writeResult(
  whole: ResultSet,
  { format = 'table', file }: ResultDestination,
  { io, output, json, signal }: CommandContext,
): Promise<CommandReport | undefined> {
  const result = { ...whole, batches: stopOnAbort(whole.batches, signal) };
  if (json && file === undefined) return writeJsonLine(result, output);
  const rows = await writeFormat(result, format, file, output);
  const { credits } = result;
  const isBeside = credits.length > 0 && file !== undefined && !CREDITED.includes(format);
  const metadata = isBeside ? await writeMetadata(file, format, result) : undefined;
  if (credits.length > 0) {
    if (format === 'table' && file === undefined) await output.write(formatCredits(credits));
    else io.log('info', 'attribution', { texts: credits, metadata });
  }
  return { rows, file, format, attribution: credits, metadata };
}

/** True if a person reads the result. */
export const isForEyes = ({ format = 'table' }: ResultDestination, { json }: CommandContext): boolean =>
  !json && format === 'table';

/** The same, but people see only the columns that have a heading. */
export function writeForReaders(
  result: ResultSet,
  { headings, show }: { headings: Record<string, string>; show: ShowValue },
  destination: ResultDestination,
  context: CommandContext,
): Promise<CommandReport | undefined> {
  const shown = isForEyes(destination, context) ? selectColumns(result, headings, show) : result;
  return writeResult(shown, destination, context);
}

async function writeFormat(result: ResultSet, format: Format, file: string | undefined, output: Output) {
  if (format !== 'parquet') {
    const write = await loadFormat(format);
    if (file === undefined) return write(result, output);
    return writeToFile(file, async (to) => {
      const rows = await write(result, to);
      if (format === 'table' && result.credits.length > 0) await to.write(formatCredits(result.credits));
      return rows;
    });
  }
  const { relation } = result;
  if (relation === undefined) throw new TypeError('this result cannot be written as Parquet');
  const { streamParquet, writeParquet } = await import('./parquet.js');
  return file === undefined ? streamParquet(result, relation, output) : writeParquet(result, relation, file);
}

/** Refuses `--json` together with a format on stdout, and bytes on a terminal, before anything is read. */
export function requireDestination({ format, file }: ResultDestination, { json, output }: CommandContext): void {
  if ((format === 'arrow' || format === 'parquet') && file === undefined && output.columns !== undefined) {
    throw new PricelakeError('usage', `--format ${format} is not for a terminal`, {
      hint: 'Name a file with --output, or pipe the output.',
    });
  }
  if (json && format !== undefined && file === undefined) {
    throw new PricelakeError('usage', `--json and --format ${format} both need stdout`, {
      hint: 'Leave one of them out, or name a file with --output.',
    });
  }
}

async function* stopOnAbort(batches: ResultSet['batches'], signal: AbortSignal): ResultSet['batches'] {
  for await (const batch of batches) {
    signal.throwIfAborted();
    yield batch;
  }
}

function formatCredits(credits: string[]): string {
  return `\nData of open-data sources; pass these credits on with it:\n${credits.map((text) => `  ${toPlainLine(text)}\n`).join('')}`;
}

/** Streams the line, so that a long result is never held whole. */
async function writeJsonLine(result: ResultSet, output: Output): Promise<undefined> {
  const columns = result.columns.map(({ name, type }) => ({ name, type: String(type) }));
  await output.write(`{"ok":true,"columns":${toJsonText(columns)},"rows":[`);
  const rows = await writeRows(result, output, { open: '', between: ',' });
  await output.write(`],"rowCount":${rows},"attribution":${toJsonText(result.credits)}}\n`);
}

async function writeToFile(path: string, write: (output: Output) => Promise<bigint>): Promise<bigint> {
  const stream = createWriteStream(path);
  const done = finished(stream);
  done.catch(() => {});
  const rows = await write(createStreamOutput(stream));
  stream.end();
  await done;
  return rows;
}

/** Writes a result, and returns the number of rows. Stops early if the reader has gone. */
type WriteFormat = (result: ResultSet, output: Output) => Promise<bigint>;

/** Each loads only its own writer, because Arrow's library is large. */
const WRITERS: Record<Exclude<Format, 'parquet'>, () => Promise<WriteFormat>> = {
  table: async () => (await import('./table.js')).writeTable,
  csv: async () => (await import('./text-formats.js')).writeCsv,
  json: async () => (await import('./text-formats.js')).writeJson,
  ndjson: async () => (await import('./text-formats.js')).writeNdjson,
  arrow: async () => (await import('./arrow.js')).writeArrow,
};

export const loadFormat = (format: Exclude<Format, 'parquet'>): Promise<WriteFormat> => WRITERS[format]();
