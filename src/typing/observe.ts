import { open } from 'node:fs/promises';
import { isTooDeep } from '../formats/json-depth.js';

/** Files up to this size are looked at whole. */
const WHOLE_BYTES = 4 * 1024 * 1024;
const HEAD_BYTES = 1024 * 1024;
const STEP_BYTES = 1024 * 1024;
const SAMPLE_BYTES = 16 * 1024;

/**
 * Shows rows of a landed file, parsed: every row of a small file, else those of its first megabyte and some in each
 * further one. Lines that are not JSON are ignored here; typing reports them.
 */
export async function observeRows(path: string, onRow: (row: unknown) => void): Promise<void> {
  for await (const lines of readSamples(path)) {
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

async function* readSamples(path: string): AsyncGenerator<string> {
  const file = await open(path, 'r');
  try {
    const { size } = await file.stat();
    if (size <= WHOLE_BYTES) {
      yield (await file.readFile()).toString('utf8');
      return;
    }
    const head = Buffer.alloc(HEAD_BYTES);
    await file.read(head, 0, HEAD_BYTES, 0);
    yield wholeLines(head, 0);
    const sample = Buffer.alloc(SAMPLE_BYTES);
    for (let at = HEAD_BYTES; at < size; at += STEP_BYTES) {
      const { bytesRead } = await file.read(sample, 0, SAMPLE_BYTES, at);
      yield wholeLines(sample.subarray(0, bytesRead), sample.indexOf(0x0a) + 1);
    }
  } finally {
    await file.close();
  }
}

function wholeLines(bytes: Buffer, start: number): string {
  return bytes.toString('utf8', start, Math.max(start, bytes.lastIndexOf(0x0a)));
}
