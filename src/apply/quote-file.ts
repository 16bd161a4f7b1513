import { createReadStream } from 'node:fs';
import { open } from 'node:fs/promises';
import path from 'node:path';
import { readWholeLines } from '../formats/ndjson.js';
import { MAX_ROW_BYTES } from '../io/limits.js';
import type { LandedFile } from './landed.js';
import { findLongNumbers, NUMBER_MARK, quoteNumbers } from './long-numbers.js';

const NEWLINE = 0x0a;

/** The file itself, or where it holds numbers that DuckDB would round, a copy with these quoted. */
export async function quoteFile(source: string, readAt: string, workFolder: string): Promise<LandedFile> {
  const part = path.basename(source);
  const target = path.join(workFolder, `${part}.quoted`);
  let out: Awaited<ReturnType<typeof open>> | undefined;
  let copied = 0;
  let hasTooLarge = false;
  try {
    for await (const lines of readWholeLines(source)) {
      // A line that long comes with its last piece, in front of what else is in that.
      hasTooLarge ||= lines.length > MAX_ROW_BYTES && !lines.subarray(0, MAX_ROW_BYTES + 1).includes(NEWLINE);
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
  return { path: marked ? target : source, layout: 'lines', marked, hasTooLarge, part, readAt };
}
