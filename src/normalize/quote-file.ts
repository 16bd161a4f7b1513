import { createReadStream } from 'node:fs';
import { open } from 'node:fs/promises';
import path from 'node:path';
import type { LandedFile } from './landed.js';
import { findLongNumbers, NUMBER_MARK, quoteNumbers } from './long-numbers.js';

/** The file itself, or where it holds numbers that DuckDB would round, a copy with these quoted. */
export async function quoteFile(
  landed: { path: string; layout: 'lines' | 'pages'; maxLineBytes: number },
  workFolder: string,
): Promise<LandedFile> {
  const { path: source, layout, maxLineBytes } = landed;
  const part = path.basename(source);
  const target = path.join(workFolder, `${part}.quoted`);
  let out: Awaited<ReturnType<typeof open>> | undefined;
  let copied = 0;
  try {
    for await (const lines of readWholeLines(source)) {
      const tokens = findLongNumbers(lines);
      if (tokens.length > 0 && out === undefined) {
        out = await open(target, 'w');
        if (copied > 0) {
          for await (const before of createReadStream(source, { end: copied - 1 }))
            await out.writeFile(before as Buffer);
        }
      }
      if (out !== undefined) await out.writeFile(quoteNumbers(lines, tokens, NUMBER_MARK));
      copied += lines.length;
    }
  } finally {
    await out?.close();
  }
  const marked = out !== undefined;
  // Each token grows by the mark and two quotes: at most by half of its length.
  return {
    path: marked ? target : source,
    layout,
    marked,
    part,
    maxLineBytes: marked ? maxLineBytes * 2 : maxLineBytes,
  };
}

async function* readWholeLines(source: string): AsyncGenerator<Buffer> {
  let rest: Buffer = Buffer.alloc(0);
  for await (const chunk of createReadStream(source, { highWaterMark: 4 << 20 }) as AsyncIterable<Buffer>) {
    const bytes = rest.length === 0 ? chunk : Buffer.concat([rest, chunk]);
    const cut = bytes.lastIndexOf(0x0a) + 1;
    if (cut > 0) yield bytes.subarray(0, cut);
    rest = bytes.subarray(cut);
  }
  if (rest.length > 0) yield rest;
}
