import { toTerminalText } from '../plain-text.js';

/** Takes results, for stdout or a file. Writing after the reader has gone (`| head`) is no error. */
export interface Output {
  /** Waits until the bytes are taken; false if the reader has gone. */
  write(chunk: string | Uint8Array): Promise<boolean>;
  /** Columns of the terminal; undefined without one. */
  readonly columns: number | undefined;
}

/** Makes text safe if the stream is a terminal. EPIPE closes the output without an error. */
export function createStreamOutput(stream: NodeJS.WritableStream & { isTTY?: boolean; columns?: number }): Output {
  let closed = false;
  stream.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE' && error.code !== 'ERR_STREAM_DESTROYED') throw error;
    closed = true;
  });
  const isTerminal = stream.isTTY === true;
  return {
    columns: isTerminal ? measureScreen(stream).columns : undefined,
    write: (chunk) =>
      new Promise((resolve, reject) => {
        if (closed) return resolve(false);
        stream.write(isTerminal && typeof chunk === 'string' ? toTerminalText(chunk) : chunk, (error) => {
          const code = (error as NodeJS.ErrnoException | null | undefined)?.code;
          if (!error) return resolve(true);
          if (code !== 'EPIPE' && code !== 'ERR_STREAM_DESTROYED') return reject(error);
          closed = true;
          resolve(false);
        });
      }),
  };
}

/** The window's size may change. */
export type Screen = NodeJS.WritableStream & { columns?: number; rows?: number };

/** The usual size for a terminal that reports none or 0, as serial lines and some containers do. */
export function measureScreen({ columns, rows }: Pick<Screen, 'columns' | 'rows'>): { columns: number; rows: number } {
  const orUsual = (cells: number | undefined, usual: number) => (cells !== undefined && cells > 0 ? cells : usual);
  return { columns: orUsual(columns, 80), rows: orUsual(rows, 24) };
}
