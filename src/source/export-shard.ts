import { readdir, rm } from 'node:fs/promises';
import path from 'node:path';
import type { ApiClient } from '../api/client.js';
import { PricelakeError } from '../io/errors.js';
import type { Io } from '../io/io.js';
import { type ExportAttempt, findDone, listCut } from '../journal/exports.js';
import type { Landing } from '../journal/landings.js';
import { countAttempts, findRetryAt, isBreak, isLoss, refuseBroken } from '../plan/broken-exports.js';
import { type ExportGate, readCut, readExportRows, readTakenExport } from '../plan/export-gate.js';
import { isClearlyFewer } from '../plan/is-clearly-fewer.js';
import type { Shard } from '../plan/plan-shards.js';
import { countItems } from './datasets.js';
import type { ItemFile } from './item-files.js';
import type { ExportFormat } from './row-scanner.js';
import { type Segment, writeSegments } from './segment-writer.js';

const SEGMENT_BYTES = 128 * 1024 * 1024;
/** The maximum number of attempts for an export in one process. It is low, because each attempt's rows are billed. */
const ATTEMPTS = 3;
const RETRY_WAIT_MS = 2_000;

export interface ShardSegment extends ItemFile {
  /** True if all rows belong to one website. */
  isOfOneSite: boolean;
}

/** The methods of `TypingQueue` that exports need. The queue converts the rows of closed files during the download. */
export interface SegmentTyping {
  /** Adds a file of an export. If `mayBecomeVoid` is true, the export is incomplete, and the file may be discarded. */
  addItems(segment: ShardSegment, facts: { mayBecomeVoid: boolean }): void;
  /** Discards the files of an export that was interrupted. */
  forget(paths: readonly string[]): void;
  /** Resolves when the queue has room for another file. */
  whenRoom(): Promise<void>;
}

export interface ShardProgress {
  rows: bigint;
  bytes: number;
}

export interface AskedShard {
  shard: Shard;
  format: ExportFormat;
  gate: ExportGate;
  onProgress: (progress: ShardProgress) => void;
}

/**
 * Downloads one export (API §4), and retries it after interruptions. It is complete if it has `X-Export-Rows` rows.
 * @throws the error of `asked.gate` if the gate refuses the export; `snapshot_incomplete` if rows are missing; `quota`
 * with `facts.cut` if the service cut off the export at the monthly limit, but these rows are kept
 */
export async function exportShard(
  client: ApiClient,
  landing: Landing,
  asked: AskedShard,
  typing: SegmentTyping,
  io: Io,
): Promise<void> {
  const { name, rows } = asked.shard;
  const { memory } = asked.gate;
  const broken = memory.list().find((one) => one.name === name || one.format !== undefined);
  const attempts = countAttempts(broken, ATTEMPTS, io.now());
  if (broken !== undefined && attempts === 0) throw refuseBroken(broken);
  let lost = 0n;
  for (let tries = 1; ; tries++) {
    try {
      await removeSegments(landing, name);
      await typing.whenRoom();
      await new ShardExport(client, landing, asked, typing, io).take();
      return await memory.forget(name);
    } catch (error) {
      if (error instanceof PricelakeError && error.code === 'disk_full') await removeSegments(landing, name);
      if (isLoss(error) && error.facts.cut !== true) lost += rows;
      if (!isBreak(error) || error.facts.cut === true || tries >= attempts)
        throw await rememberLoss(asked, lost, error, io);
      io.log('warn', 'export.again', { shard: name, attempt: tries, reason: error.message });
      await io.sleep(RETRY_WAIT_MS * tries);
    }
  }
}

/** Errors by which pricelake itself ends an export. The service isn't at fault. */
const OWN_ENDS: readonly string[] = ['stopped', 'deadline', 'disk_full'];

/** Records a failed export for later runs. Returns its error, with the time of the next attempt (`nextRunAt`). */
async function rememberLoss({ shard, gate }: AskedShard, lost: bigint, error: unknown, io: Io): Promise<unknown> {
  if (lost === 0n || !(error instanceof PricelakeError) || OWN_ENDS.includes(error.code)) return error;
  const { unreadable } = error.facts;
  const format = typeof unreadable === 'string' ? { format: unreadable } : {};
  const noted = await gate.memory.note(shard.name, { rows: lost, reason: error.message, ...format });
  if (noted.format !== undefined) return error;
  const nextRunAt = findRetryAt(noted);
  io.log('warn', 'export.broken', { shard: shard.name, runs: noted.runs, rows: noted.rows, nextRunAt });
  if (!isBreak(error)) return error;
  return new PricelakeError(error.code, error.message, { ...error.facts, nextRunAt }, { cause: error.cause });
}

class ShardExport {
  readonly #client: ApiClient;
  readonly #landing: Landing;
  readonly #shard: Shard;
  readonly #format: ExportFormat;
  readonly #gate: ExportGate;
  readonly #onProgress: AskedShard['onProgress'];
  readonly #typing: SegmentTyping;
  readonly #io: Io;
  readonly #attempt: number;
  #readAt = '';
  readonly #handed: string[] = [];
  readonly #small: ShardSegment[] = [];

  constructor(...[client, landing, { shard, format, gate, onProgress }, typing, io]: Parameters<typeof exportShard>) {
    this.#client = client;
    this.#landing = landing;
    this.#shard = shard;
    this.#format = format;
    this.#gate = gate;
    this.#onProgress = onProgress;
    this.#typing = typing;
    this.#io = io;
    this.#attempt = (landing.journal.state.exports.attempts.get(shard.name)?.length ?? 0) + 1;
  }

  async take(): Promise<void> {
    let cut: PricelakeError | undefined;
    try {
      const { announced, body, matching } = await this.#open();
      const landed = await this.#write(body, announced);
      if (landed.rows !== announced) {
        throw new PricelakeError(
          'snapshot_incomplete',
          `/export: ${landed.rows} rows arrived, but X-Export-Rows announced ${announced}`,
          { hint: 'Nothing was published. Run the same command again.' },
        );
      }
      const counted = matching === undefined ? await this.#findShortage(announced) : undefined;
      if (matching !== undefined) cut = this.#explainCut(announced, matching);
      else if (counted !== undefined) cut = await this.#explainShortage(announced, counted);
      const entry = { ...this.#place(), announced, landed: landed.rows, calls: this.#client.calls() };
      // Once this entry is written, the export isn't requested again, even if it was cut off.
      await this.#landing.journal.append(
        cut === undefined
          ? { type: 'export.done', ...entry }
          : { type: 'export.cut', ...entry, matching: matching ?? String(counted) },
      );
      this.#io.log('debug', 'landed', { what: 'export', shard: this.#shard.name, ...landed });
    } catch (error) {
      this.#typing.forget(this.#handed);
      throw error;
    }
    for (const segment of this.#small) this.#typing.addItems(segment, { mayBecomeVoid: false });
    if (cut !== undefined) throw cut;
  }

  /** Returns the number of items that /items counts if the export has clearly fewer rows, and fewer than planned. */
  async #findShortage(announced: bigint): Promise<bigint | undefined> {
    const { rows, status, site } = this.#shard;
    if (!isClearlyFewer(announced, rows)) return undefined;
    const counted = await countItems(this.#client, { status, site: site ?? undefined });
    return isClearlyFewer(announced, counted) ? counted : undefined;
  }

  /** Records that the export lacks rows, so that later runs don't pay for it again too soon. Returns the error. */
  async #explainShortage(announced: bigint, counted: bigint): Promise<PricelakeError> {
    const message = `/export: ${announced} rows arrived, but /items counts ${counted}, so the export is incomplete`;
    const noted = await this.#gate.memory.note(this.#shard.name, { rows: announced, reason: message });
    this.#io.log('warn', 'export.short', { shard: this.#shard.name, rows: announced, counted });
    return new PricelakeError('snapshot_incomplete', message, {
      cut: true,
      nextRunAt: findRetryAt(noted),
      hint: "pricelake doesn't accept an incomplete export as a copy. Raise budget.calls so that it can read pages of /items instead.",
    });
  }

  #explainCut(announced: bigint, matching: string): PricelakeError {
    const { resetsAt } = this.#gate.left();
    return new PricelakeError(
      'quota',
      `/export: the service truncated the export at the monthly limit: ${announced} of ${matching} rows`,
      {
        limit: 'exportRowsPerMonth',
        cut: true,
        ...(resetsAt === undefined ? {} : { nextRunAt: resetsAt }),
        hint: "pricelake doesn't accept a truncated export as a copy. Wait until next month, or choose a larger plan.",
      },
    );
  }

  async #open() {
    this.#readAt = this.#io.now().toISOString();
    const { body, headers, hold } = await this.#ask();
    const announced = readExportRows(headers);
    const matching = readCut(headers, announced);
    const taken = readTakenExport(headers, announced);
    const begun = { announced, overage: taken.overage, blocks: hold.take(taken), calls: this.#client.calls() };
    await this.#landing.journal.append({ type: 'export.begin', ...this.#place(), readAt: this.#readAt, ...begun });
    return { body, announced, matching };
  }

  async #ask() {
    const { rows, status, site } = this.#shard;
    const hold = this.#gate.hold(rows);
    try {
      const { body, headers } = await this.#client.stream('/export', {
        format: this.#format,
        status,
        site: site ?? undefined,
      });
      return { body, headers, hold };
    } catch (error) {
      // The request failed, but the service may have counted the export toward the quota.
      if (error instanceof PricelakeError && error.facts.midStream === true) hold.take({ rows, overage: false });
      else hold.release();
      throw error;
    }
  }

  #write(body: AsyncIterable<Buffer>, announced: bigint): Promise<ShardProgress> {
    const progress: ShardProgress = { rows: 0n, bytes: 0 };
    const { shard, attempt } = this.#place();
    return writeSegments(body, {
      folder: this.#landing.folder,
      prefix: `export-${shard}-${attempt}-`,
      format: this.#format,
      targetBytes: SEGMENT_BYTES,
      announced,
      onBytes: (bytes, rows) => {
        progress.rows += BigInt(rows);
        progress.bytes += bytes;
        this.#onProgress(progress);
      },
      onSegment: (segment) => this.#keep(segment),
    });
  }

  async #keep(written: Segment): Promise<void> {
    await this.#landing.journal.append({ type: 'export.segment', ...this.#place(), ...written });
    this.#io.log('debug', 'landed', { what: 'segment', ...written });
    const { file, rows, bytes } = written;
    const landed = { path: path.join(this.#landing.folder, file), rows, bytes };
    const segment = { ...landed, readAt: this.#readAt, isOfOneSite: this.#shard.site !== null };
    if (bytes < SEGMENT_BYTES) {
      this.#small.push(segment);
      return;
    }
    this.#handed.push(segment.path);
    this.#typing.addItems(segment, { mayBecomeVoid: true });
    await this.#typing.whenRoom();
  }

  #place() {
    return { shard: this.#shard.name, attempt: this.#attempt };
  }
}

/** Lists the files of the shard's complete export, or returns undefined if there is none. */
export function listSegments({ journal, folder }: Landing, shard: Shard): ShardSegment[] | undefined {
  const done = findDone(journal.state.exports, shard.name);
  return done && placeSegments(folder, done, shard);
}

/**
 * Lists the files of complete exports and of exports that the service cut off. The rows of these files are paid for, so
 * a run uses the files even if it reads the remaining items from pages.
 */
export function listEndedSegments({ journal, folder }: Landing): ShardSegment[] {
  const { attempts, planned } = journal.state.exports;
  return [...attempts].flatMap(([name, all]) => {
    const shard = planned?.find((one) => one.name === name);
    return all.flatMap((one) => (one.end === undefined ? [] : placeSegments(folder, one, shard)));
  });
}

/** Returns the files of an attempt at an export. @param shard undefined if the plan no longer includes this shard */
function placeSegments(
  folder: string,
  { segments, readAt }: ExportAttempt,
  shard: Pick<Shard, 'site'> | undefined,
): ShardSegment[] {
  const isOfOneSite = (shard?.site ?? null) !== null;
  return segments.map(({ file, rows, bytes }) => ({ path: path.join(folder, file), rows, bytes, readAt, isOfOneSite }));
}

/** Deletes the files of a shard's earlier attempts, except those of exports that the service cut off. */
export async function removeSegments({ journal, folder }: Landing, name: string): Promise<void> {
  const kept = listCut(journal.state.exports, name).map(({ attempt }) => `export-${name}-${attempt}-`);
  for (const file of await readdir(folder)) {
    const isKept = kept.some((prefix) => file.startsWith(prefix));
    if (file.startsWith(`export-${name}-`) && !isKept) await rm(path.join(folder, file));
  }
}
