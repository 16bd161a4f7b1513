import { writeFile } from 'node:fs/promises';
import { hasSystemCode } from '../../io/errors.js';
import { explainOutputFault, replaceOutput } from '../../io/output-file.js';
import { toTerminalText } from '../plain-text.js';

/** Writes results to stdout or a file. If the reader closes the pipe, as `head` does, this is not an error. */
export interface Output {
  /** Resolves to true when the bytes have been written, or to false if the reader has closed the pipe. */
  write(chunk: string | Uint8Array): Promise<boolean>;
  /** The terminal's width in columns; undefined if the output is not a terminal. */
  readonly columns: number | undefined;
  /** True once something has been written. */
  readonly hasBegun?: boolean;
}

/**
 * Creates an output that writes to a stream. If the stream is a terminal, control characters are escaped. After the
 * reader has closed the pipe (EPIPE), nothing more is written. Any other error rejects the promise of the write.
 * @param name the name of the stream for error messages
 */
export function createStreamOutput(
  stream: NodeJS.WritableStream & { isTTY?: boolean; columns?: number },
  name = 'stdout',
): Output {
  let closed = false;
  let hasBegun = false;
  const isClosing = (error: Error) => hasSystemCode(error, 'EPIPE', 'ERR_STREAM_DESTROYED');
  let fault: unknown;
  stream.on('error', (error) => {
    if (isClosing(error)) closed = true;
    else fault ??= explainOutputFault(name, error);
  });
  const isTerminal = stream.isTTY === true;
  return {
    columns: isTerminal ? measureScreen(stream).columns : undefined,
    get hasBegun() {
      return hasBegun;
    },
    write: (chunk) =>
      new Promise((resolve, reject) => {
        hasBegun = true;
        if (fault !== undefined) return reject(fault);
        if (closed) return resolve(false);
        stream.write(isTerminal && typeof chunk === 'string' ? toTerminalText(chunk) : chunk, (error) => {
          if (!error) return resolve(true);
          if (!isClosing(error)) return reject(explainOutputFault(name, error));
          closed = true;
          resolve(false);
        });
      }),
  };
}

/**
 * Writes text to a file or to stdout. With `--json` and no file, doesn't write the text, but returns it as a member of
 * the JSON object.
 */
export async function writeText(
  text: string | Uint8Array,
  file: string | undefined,
  { json, output }: { json: boolean; output: Output },
): Promise<{ file: string | undefined; text?: string }> {
  if (file !== undefined) await replaceOutput(file, (path) => writeFile(path, text));
  else if (!json) await output.write(text);
  return { file, ...(json && file === undefined && typeof text === 'string' ? { text } : {}) };
}

/** A stream whose window size may change. */
export type Screen = NodeJS.WritableStream & { columns?: number; rows?: number };

/**
 * Returns the size of the terminal. Serial lines and some containers report no size or a size of 0. In that case,
 * returns 80 columns and 24 rows.
 */
export function measureScreen({ columns, rows }: Pick<Screen, 'columns' | 'rows'>): { columns: number; rows: number } {
  const orUsual = (cells: number | undefined, usual: number) => (cells !== undefined && cells > 0 ? cells : usual);
  return { columns: orUsual(columns, 80), rows: orUsual(rows, 24) };
}
