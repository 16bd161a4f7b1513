import type { DuckDBConnection } from '@duckdb/node-api';

const AGAIN_MS = 50;

/** Interrupts again and again: an interrupt that comes between two statements is lost. Returns what ends that. */
export function interruptOnAbort(connection: Pick<DuckDBConnection, 'interrupt'>, signal: AbortSignal): () => void {
  let timer: NodeJS.Timeout | undefined;
  const interrupt = () => {
    connection.interrupt();
    timer ??= setInterval(() => connection.interrupt(), AGAIN_MS);
  };
  signal.addEventListener('abort', interrupt);
  if (signal.aborted) interrupt();
  return () => {
    signal.removeEventListener('abort', interrupt);
    clearInterval(timer);
  };
}
