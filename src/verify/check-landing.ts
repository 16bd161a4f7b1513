import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { ignoreMissing } from '../io/errors.js';
import { findNameFault, quotePath } from '../io/inner-path.js';

export interface LandingFault {
  /** The file's path within the run's folder. */
  file: string;
  what: string;
  /** The index of the first journal line that doesn't match the file; undefined for a fault of the journal itself. */
  line?: number | undefined;
}

interface LandingCheck {
  faults: LandingFault[];
  files: number;
  /** The time at which the run ended; undefined if the journal doesn't record it. */
  endedAt: string | undefined;
}

/** A file, or a part of a file, as a line of the journal describes it. */
interface Piece {
  file: string;
  /** The index of the journal line. */
  line: number;
  /** The offset after the last byte; undefined if the line describes the whole file. */
  end: number | undefined;
  sha256: string | undefined;
}

interface Line {
  type?: string;
  [field: string]: unknown;
}

const JOURNAL = 'journal.ndjson';
export const SUM = /,"sum":"([0-9a-f]{16})"\}$/;

/**
 * Checks that the lines of a run's journal are complete, in order and unchanged, and that the files have the lengths
 * and checksums that the lines record. Shares no code with the writer, so that it notices the writer's bugs.
 */
export async function checkLanding(folder: string): Promise<LandingCheck> {
  const check: LandingCheck = { faults: [], files: 0, endedAt: undefined };
  const fail = (file: string, what: string, line?: number) => check.faults.push({ file, what, line });
  const text = await readFile(join(folder, JOURNAL), 'utf8').catch((error: NodeJS.ErrnoException) => {
    fail(JOURNAL, error.code === 'ENOENT' ? 'is missing' : `can't be read: ${error.message}`);
  });
  if (text === undefined) return check;
  const lines = readLines(text, (what) => fail(JOURNAL, what));
  if (lines[0]?.type !== 'begin') fail(JOURNAL, "doesn't start with the beginning of a run");
  const ends = lines.filter(({ type }) => type === 'end');
  check.endedAt = typeof ends[0]?.at === 'string' ? ends[0].at : undefined;
  if (ends.length > 0 && lines.at(-1)?.type !== 'end') fail(JOURNAL, 'continues after the end of the run');
  checkExports(lines, (what) => fail(JOURNAL, what));
  for (const [file, pieces] of listPieces(lines)) {
    check.files += 1;
    const fault = findNameFault(file);
    if (fault !== undefined) {
      fail(JOURNAL, `lists the file ${quotePath(file)}: it ${fault}`);
      continue;
    }
    const found = await compareFile(join(folder, file), pieces);
    if (found !== undefined) fail(file, found.what, found.line);
  }
  return check;
}

function readLines(text: string, fail: (what: string) => void): Line[] {
  const lines: Line[] = [];
  let sum = '';
  const texts = text.split('\n');
  if (texts.pop() !== '') fail('its last line is cut short');
  for (const [index, whole] of texts.entries()) {
    const [tail, claimed] = SUM.exec(whole) ?? [];
    const line = tail === undefined ? whole : `${whole.slice(0, -tail.length)}}`;
    const sums = listSums(sum, line);
    try {
      lines.push(JSON.parse(line) as Line);
    } catch {
      fail(`line ${index + 1} is not JSON`);
      return lines;
    }
    if (claimed === undefined || !sums.includes(claimed)) {
      const why = claimed === undefined ? 'it has no checksum' : 'its checksum differs';
      fail(`line ${index + 1} or one before it has changed since it was written: ${why}`);
      return lines;
    }
    sum = claimed;
  }
  return lines;
}

/** Returns the two valid checksums of a journal line: as the first line of an append, or as a later line. */
export function listSums(before: string, line: string): string[] {
  return ['', '+'].map((mark) =>
    createHash('sha256')
      .update(before + mark)
      .update(line)
      .digest('hex')
      .slice(0, 16),
  );
}

/** Checks that the files of each complete export together have the number of rows that the journal records. */
function checkExports(lines: readonly Line[], fail: (what: string) => void): void {
  for (const { type, shard, attempt, landed } of lines) {
    if (type !== 'export.done' && type !== 'export.cut') continue;
    const segments = lines.filter(
      (one) => one.type === 'export.segment' && one.shard === shard && one.attempt === attempt,
    );
    const rows = segments.reduce((total, one) => total + Number(one.rows), 0);
    if (String(rows) !== String(landed)) fail(`export ${shard} landed ${landed} rows; its segments have ${rows}`);
  }
}

/** Maps journal entries that don't name a file to their file. All feed pages of a run are in the same file. */
const FILES: Record<string, string> = { 'feed.page': 'feed.ndjson' };

function listPieces(lines: readonly Line[]): Map<string, Piece[]> {
  const kept = new Set<string>();
  for (const { type, shard, attempt } of lines) {
    if (type === 'export.done' || type === 'export.cut') kept.add(`${shard} ${attempt}`);
  }
  const files = new Map<string, Piece[]>();
  for (const [index, line] of lines.entries()) {
    const file = typeof line.file === 'string' ? line.file : FILES[String(line.type)];
    // Skips the files of an interrupted export, because the run has deleted them.
    const isVoid = line.type === 'export.segment' && !kept.has(`${line.shard} ${line.attempt}`);
    if (file === undefined || isVoid) continue;
    const whole = typeof line.fileSha256 === 'string' ? line.fileSha256 : undefined;
    const sha256 = whole ?? (typeof line.sha256 === 'string' ? line.sha256 : undefined);
    const end = whole === undefined ? Number(line.end ?? line.bytes ?? 0) : undefined;
    files.set(file, [...(files.get(file) ?? []), { file, line: index, end, sha256 }]);
  }
  return files;
}

/**
 * Describes the first difference between a file and the parts that the journal records. Returns undefined if the parts
 * match. Ignores bytes after the last part, which a killed run may leave.
 */
async function compareFile(path: string, pieces: readonly Piece[]): Promise<Omit<LandingFault, 'file'> | undefined> {
  const info = await stat(path).catch(ignoreMissing);
  const last = pieces.at(-1)?.end ?? 0;
  const [first] = pieces;
  if (info === undefined)
    return last === 0 && pieces.every(({ end }) => end === 0) ? undefined : { what: 'is missing', line: first?.line };
  let start = 0;
  for (const { end, sha256, line } of pieces) {
    const stop = end ?? info.size;
    if (info.size < stop) return { what: `has ${info.size} bytes, but the journal records ${last}`, line };
    if ((await hashBytes(path, start, stop)) !== sha256)
      return { what: `bytes ${start} to ${stop} have changed since they landed: their checksum differs`, line };
    start = stop;
  }
  return undefined;
}

async function hashBytes(path: string, start: number, end: number): Promise<string> {
  const hash = createHash('sha256');
  if (end > start) {
    const bytes = createReadStream(path, { start, end: end - 1, highWaterMark: 1 << 20 });
    for await (const chunk of bytes) hash.update(chunk as Buffer);
  }
  return hash.digest('hex');
}
