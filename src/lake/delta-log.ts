import { readdir, readFile, stat } from 'node:fs/promises';
import { type ErrorFacts, ignoreMissing, PricelakeError } from '../io/errors.js';
import { type Lake, MAX_LOG_BYTES, tablePath } from '../tables/layout.js';
import type { TableName } from '../tables/table.js';
import { readCheckpoint } from './checkpoint-file.js';
import { hashFile } from './data-file.js';
import { type Action, type LogState, nameCommit, parseAction, readAdd, readName, SHA256_TAG } from './delta-actions.js';
import { isSealBroken } from './log-seal.js';

/** Returns the path of a file in a table's log, such as `<table>/_delta_log/00000000000000000007.json`. */
export function logPath(lake: Lake, table: TableName, version: bigint, suffix: string): string {
  return tablePath(lake, table, '_delta_log', nameEntry(version, suffix));
}

export function nameEntry(version: bigint, suffix = 'json'): string {
  return `${version.toString().padStart(20, '0')}.${suffix}`;
}

/** Lists the files of a table's log by name. The list is empty before the first commit. */
export async function listLog(lake: Lake, table: TableName): Promise<string[]> {
  return (await readdir(tablePath(lake, table, '_delta_log')).catch(ignoreMissing)) ?? [];
}

export function findVersions(names: Iterable<string>, suffix: string): bigint[] {
  const found = [...names].filter((name) => /^\d{20}\./.test(name) && name.slice(21) === suffix);
  return found.map((name) => BigInt(name.slice(0, 20))).sort((a, b) => (a < b ? -1 : 1));
}

export const REBUILD_HINT = '`pricelake lake rebuild` rebuilds the tables from the saved raw data.';

function explainDamage(what: string, cause?: unknown, facts: ErrorFacts = {}): PricelakeError {
  // Appends the cause's message only if it is from pricelake. A JSON parser's message wouldn't help the user.
  const why = cause instanceof PricelakeError ? `: ${cause.message}` : '';
  return new PricelakeError('lake_invalid', what + why, { hint: REBUILD_HINT, ...facts }, { cause });
}

/** A replayed state, and the identity of the last log file that was read. A replaced file has another identity. */
interface Replay {
  state: LogState;
  end: string | undefined;
}

/** The last replayed state of each table. Log entries never change, so a later read needs only the new entries. */
const replays = new WeakMap<Lake, Map<TableName, Replay>>();

export interface LogRange {
  /** Replays from this version or an earlier one, or from the oldest checkpoint if the log doesn't go back that far. */
  since?: bigint;
  /** The newest version to replay. The result is the table's state as of this version. */
  until?: bigint;
  /** Called before a commit is applied, with the table's state before this commit. */
  onCommit?: (before: LogState, version: bigint, actions: readonly Action[]) => void;
}

/**
 * Replays a table's log from its newest checkpoint. If no range is given, replays only the commits after the state that
 * the previous call without a range returned.
 * @throws PricelakeError `lake_invalid` if a version is missing or a line is damaged
 */
export async function readLog(
  lake: Lake,
  table: TableName,
  { since, until, onCommit }: LogRange = {},
): Promise<LogState> {
  const present = await listLog(lake, table);
  if (since !== undefined || until !== undefined) {
    const isLater = (name: string, version: bigint) => /^\d{20}\./.test(name) && BigInt(name.slice(0, 20)) > version;
    const names = until === undefined ? present : present.filter((name) => !isLater(name, until));
    return replayLog(lake, names, beginReplay(table, chooseCheckpoint(names, since)), onCommit);
  }
  const known = replays.get(lake) ?? new Map<TableName, Replay>();
  replays.set(lake, known);
  const before = known.get(table);
  known.delete(table);
  const goesOn = before !== undefined && (await isPartOf(lake, present, before));
  const state = goesOn ? copyState(before.state) : beginReplay(table, chooseCheckpoint(present, undefined));
  await replayLog(lake, present, state);
  known.set(table, { state, end: await identifyEntry(lake, state) });
  return state;
}

/** True if the replay can be continued: the log still has the last replayed file, and it has no newer checkpoint. */
async function isPartOf(lake: Lake, names: string[], { state, end }: Replay): Promise<boolean> {
  const checkpoint = findVersions(names, 'checkpoint.parquet').at(-1) ?? -1n;
  return checkpoint <= state.version && end !== undefined && end === (await identifyEntry(lake, state));
}

async function identifyEntry(lake: Lake, { table, version }: LogState): Promise<string | undefined> {
  const info = await stat(logPath(lake, table, version, 'json')).catch(ignoreMissing);
  return info && `${info.ino} ${info.mtimeMs} ${info.size}`;
}

function beginReplay(table: TableName, checkpoint: bigint | undefined): LogState {
  return {
    table,
    version: -1n,
    checkpoint,
    protocol: undefined,
    metaData: undefined,
    files: new Map(),
    tombstones: new Map(),
    txn: new Map(),
  };
}

/** Copies a state before more entries are applied, so that a state that was returned earlier never changes. */
function copyState(state: LogState): LogState {
  const { files, tombstones, txn } = state;
  return {
    ...state,
    files: new Map(files),
    tombstones: new Map(tombstones),
    txn: new Map(txn),
  };
}

async function replayLog(
  lake: Lake,
  names: string[],
  state: LogState,
  onCommit?: LogRange['onCommit'],
): Promise<LogState> {
  let raisedBy: string | undefined;
  if (state.version < 0n && state.checkpoint !== undefined) {
    const path = logPath(lake, state.table, state.checkpoint, 'checkpoint.parquet');
    await refuseAltered(lake, state.table, state.checkpoint, path);
    const lines = await readCheckpoint(path).catch((cause: unknown) => {
      throw explainDamage(`${path}: the checkpoint is damaged`, cause);
    });
    applyActions(state, parseLines(lines, path), path);
    state.version = state.checkpoint;
  }
  for (const version of findVersions(names, 'json').filter((version) => version > state.version)) {
    const path = logPath(lake, state.table, version, 'json');
    if (version !== state.version + 1n) throw explainDamage(`${path}: version ${state.version + 1n} is missing`);
    const actions = await readEntry(path);
    if (actions.some(({ protocol }) => protocol != null)) raisedBy = nameCommit(readName(version, actions));
    applyActions(state, actions, path, (before) => onCommit?.(before, version, actions));
    state.version = version;
  }
  if (state.version >= 0n) checkReadable(lake, state, raisedBy);
  return state;
}

/** Verifies a checkpoint's checksum, if there is one. Without it, a flipped bit could change a cursor unnoticed. */
async function refuseAltered(lake: Lake, table: TableName, version: bigint, path: string): Promise<void> {
  const text = await readFile(tablePath(lake, table, '_delta_log', '_last_checkpoint'), 'utf8').catch(ignoreMissing);
  const sum = text === undefined ? undefined : readCheckpointSum(text, version);
  if (sum !== undefined && sum !== (await hashFile(path)))
    throw explainDamage(`${path}: the checkpoint changed since it was written: its checksum differs`);
}

/** Returns the checksum in `_last_checkpoint`, or undefined if it can't be read or belongs to another checkpoint. */
function readCheckpointSum(text: string, named: bigint): string | undefined {
  try {
    const { version, tags } = JSON.parse(text) as { version?: unknown; tags?: Record<string, string> | null };
    return version === Number(named) ? tags?.[SHA256_TAG] : undefined;
  } catch {
    return undefined;
  }
}

function chooseCheckpoint(names: string[], since: bigint | undefined): bigint | undefined {
  const checkpoints = findVersions(names, 'checkpoint.parquet');
  if (since === undefined) return checkpoints.at(-1);
  const before = checkpoints.findLast((version) => version <= since);
  return before ?? (findVersions(names, 'json')[0] === 0n ? undefined : checkpoints[0]);
}

function applyActions(state: LogState, actions: Action[], path: string, onCommit?: (before: LogState) => void): void {
  try {
    onCommit?.(state);
    for (const action of actions) applyAction(state, action);
  } catch (cause) {
    throw explainDamage(`${path}: an action is damaged`, cause);
  }
}

/** Reads the actions of a log entry. @throws PricelakeError `lake_invalid` if it is truncated or damaged */
export async function readEntry(path: string): Promise<Action[]> {
  const { size } = await stat(path);
  if (size > MAX_LOG_BYTES) throw explainDamage(`${path}: has ${size} bytes; a log entry has at most ${MAX_LOG_BYTES}`);
  return parseEntry(path, await readFile(path, 'utf8'));
}

export function parseEntry(path: string, text: string): Action[] {
  const lines = text.split('\n').filter((line) => line !== '');
  const actions = parseLines(lines, path);
  // The checksum also detects an entry that was truncated after a complete line.
  if (isSealBroken(text)) throw explainDamage(`${path}: changed since it was written: its checksum differs`);
  return actions;
}

function parseLines(lines: string[], path: string): Action[] {
  return lines.map((text, index) => {
    try {
      return parseAction(text);
    } catch (cause) {
      throw explainDamage(`${path}: line ${index + 1} is damaged`, cause, { line: index + 1 });
    }
  });
}

function applyAction(state: LogState, action: Action): void {
  if (action.add != null) {
    const file = readAdd(action.add);
    state.files.set(file.path, file);
    state.tombstones.delete(file.path);
  }
  if (action.remove != null) {
    const { path, deletionTimestamp } = action.remove;
    state.files.delete(path);
    state.tombstones.set(path, Number(deletionTimestamp ?? 0));
  }
  if (action.txn != null) {
    const { appId, version, lastUpdated } = action.txn;
    state.txn.set(appId, { version: BigInt(version), lastUpdated: Number(lastUpdated ?? 0) });
  }
  if (action.metaData != null) state.metaData = action.metaData;
  if (action.protocol != null) state.protocol = action.protocol;
}

function checkReadable(lake: Lake, state: LogState, raisedBy = 'another program'): void {
  const folder = tablePath(lake, state.table);
  if (state.metaData === undefined || state.protocol === undefined) {
    throw explainDamage(`${folder}: its log has no metaData or no protocol`);
  }
  const { minReaderVersion, minWriterVersion, readerFeatures } = state.protocol;
  if (minReaderVersion > 1 || minWriterVersion > 2) {
    const features = readerFeatures == null || readerFeatures.length === 0 ? '' : ` (${readerFeatures.join(', ')})`;
    throw explainDamage(
      `${folder}: ${raisedBy} raised the table to Delta reader ${minReaderVersion}, writer ${minWriterVersion}${features}; pricelake supports 1 and 2`,
    );
  }
}
