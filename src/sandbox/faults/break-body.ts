import type { FaultEffect } from './fault.js';

/**
 * The time, in milliseconds, to wait before closing a connection, so that the client receives the bytes already
 * written.
 */
const HANG_UP_MS = 20;

/**
 * A fault that cuts a body after a share of its bytes. With `drop`, the connection closes. With `stall`, it stays open,
 * but nothing more is sent.
 */
export interface BodyBreak {
  share: number;
  kind: 'drop' | 'stall';
}

export function findBreak(effects: readonly FaultEffect[]): BodyBreak | null {
  for (const { kind, argument } of effects) {
    if (kind === 'drop' || kind === 'stall') return { kind, share: argument };
  }
  return null;
}

export async function* cutBytes(body: Buffer, { share }: BodyBreak): AsyncGenerator<Buffer> {
  const end = Math.min(body.length - 1, Math.floor(body.length * share));
  if (end > 0) yield body.subarray(0, end);
}

/** Cuts a body in the middle of a row. @param total number of rows that the headers of the export announce */
export async function* cutRows(rows: AsyncIterable<string>, total: number, at: BodyBreak): AsyncGenerator<string> {
  const end = Math.floor(total * at.share);
  let n = 0;
  for await (const row of rows) {
    if (n++ >= end) {
      yield row.slice(0, row.length / 2);
      return;
    }
    yield `${row}\n`;
  }
}

/** Streams chunks, then drops or stalls the connection. @param hangUp closes the connection */
export function streamUntilBreak(chunks: AsyncIterable<Buffer>, at: BodyBreak, hangUp: () => void) {
  const source = chunks[Symbol.asyncIterator]();
  let timer: NodeJS.Timeout | undefined;
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        const next = await source.next();
        if (!next.done) return controller.enqueue(next.value);
        if (at.kind === 'drop') timer = setTimeout(hangUp, HANG_UP_MS);
        // This never resolves, so that the body neither ends nor continues.
        return new Promise<void>(() => {});
      },
      async cancel() {
        clearTimeout(timer);
        await source.return?.(undefined);
      },
    },
    { highWaterMark: 0 },
  );
}
