import { open, readFile, stat } from 'node:fs/promises';
import { isTooDeep } from '../formats/json-scan.js';

const NEWLINE = 0x0a;
/** Rows of files up to this size together are all looked at. */
const WHOLE_BYTES = 8 * 1024 * 1024;
const HEAD_BYTES = 1024 * 1024;
const STEP_BYTES = 1024 * 1024;
const SAMPLE_BYTES = 16 * 1024;

/**
 * Shows rows of landed files that belong together, parsed: every row of small ones, else those of the first megabyte, and
 * some in each further one and in each file. Lines that are not JSON are ignored here; typing reports them.
 */
export async function observeRows(paths: readonly string[], onRow: (row: unknown) => void): Promise<void> {
  for await (const lines of readSamples(paths)) {
    for (const line of lines.split('\n')) onRow(parseOrNothing(line));
  }
}

/** Names and kinds are looked at: numbers that JSON.parse rounds don't matter here. */
function parseOrNothing(line: string): unknown {
  try {
    // Whoever looks at the row goes through it by recursion.
    return isTooDeep(line) ? undefined : JSON.parse(line);
  } catch {
    return undefined;
  }
}

async function* readSamples(paths: readonly string[]): AsyncGenerator<string> {
  const sizes = await Promise.all(paths.map(async (path) => (await stat(path)).size));
  const isSmall = sizes.reduce((sum, size) => sum + size, 0) <= WHOLE_BYTES;
  for (const [index, path] of paths.entries()) {
    if (isSmall) yield readFile(path, 'utf8');
    else yield* readSome(path, sizes[index] as number, index === 0 ? HEAD_BYTES : SAMPLE_BYTES);
  }
}

async function* readSome(path: string, size: number, headBytes: number): AsyncGenerator<string> {
  const file = await open(path, 'r');
  try {
    const head = Buffer.alloc(headBytes);
    const { bytesRead } = await file.read(head, 0, headBytes, 0);
    yield wholeLines(head.subarray(0, bytesRead), 0);
    const sample = Buffer.alloc(SAMPLE_BYTES);
    for (let at = HEAD_BYTES; at < size; at += STEP_BYTES) {
      const { bytesRead } = await file.read(sample, 0, SAMPLE_BYTES, at);
      yield wholeLines(sample.subarray(0, bytesRead), sample.indexOf(NEWLINE) + 1);
    }
  } finally {
    await file.close();
  }
}

function wholeLines(bytes: Buffer, start: number): string {
  return bytes.toString('utf8', start, Math.max(start, bytes.lastIndexOf(NEWLINE)));
}
