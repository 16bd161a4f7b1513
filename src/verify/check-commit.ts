import { createHash } from 'node:crypto';
import type { Action, ReplayedTable } from './replayed-table.js';

const OURS = 'pricelake/';

/** A log entry as text, and as a list of actions. Each line has one action. */
export interface Entry {
  text: string;
  actions: Action[];
}

/** Checks a log entry. @param state the table before the entry @param fail is called for each fault */
export function checkCommit(state: ReplayedTable, { text, actions }: Entry, fail: (what: string) => void): void {
  const version = state.version + 1;
  const infos = actions.filter(({ commitInfo }) => commitInfo != null);
  const info = infos[0]?.commitInfo;
  const engine = typeof info?.engineInfo === 'string' ? info.engineInfo : 'an unknown program';
  const operation = typeof info?.operation === 'string' ? info.operation : 'unknown';
  if (!engine.startsWith(OURS)) {
    const changesRows = actions.some(
      ({ add, remove }) => (add ?? remove) != null && (add ?? remove)?.dataChange !== false,
    );
    state.foreign.push({ version, name: `${operation} by ${engine}`.slice(0, 120), changesRows });
  } else if (infos.length !== 1 || typeof info?.runId !== 'string' || !isTime(info.timestamp)) {
    fail("doesn't record which run wrote it, or when");
  }
  const fault = findSumFault(text, engine.startsWith(OURS));
  if (fault !== undefined) fail(fault);
  if (version === 0 && !actions.some(({ protocol }) => protocol != null))
    fail('is the first entry, but has no protocol');
  if (version === 0 && !actions.some(({ metaData }) => metaData != null))
    fail('is the first entry, but has no metaData');
  for (const { metaData } of actions) if (metaData != null) checkMetaData(state, metaData, fail);
  checkPartitions(state, actions, fail);
}

const SUM = ',"pricelake.entrySha256":"';

/** Checks the SHA-256 of an entry that pricelake wrote. It is computed from the entry without the SHA-256 field. */
function findSumFault(text: string, isOurs: boolean): string | undefined {
  const [head = ''] = text.split('\n', 1);
  const at = head.indexOf(SUM);
  if (at < 0) return isOurs ? 'has no checksum' : undefined;
  const end = head.indexOf('"', at + SUM.length);
  const found = createHash('sha256').update(text.slice(0, at) + text.slice(end + 1));
  const isSame = found.digest('hex') === head.slice(at + SUM.length, end);
  return isSame ? undefined : 'has changed since it was written: its checksum differs';
}

const isTime = (ms: unknown) => typeof ms === 'number' && Number.isSafeInteger(ms) && ms >= 0;

function checkMetaData(
  state: ReplayedTable,
  { id, format, schemaString, partitionColumns }: NonNullable<Action['metaData']>,
  fail: (what: string) => void,
): void {
  if (state.id !== undefined && id !== state.id) fail(`gives the table's id as ${id}, but it was ${state.id} before`);
  if (format?.provider !== 'parquet') fail(`gives the files' format as ${String(format?.provider)}, not parquet`);
  const fields = readFields(schemaString);
  if (fields === undefined) fail('has an invalid schema');
  if (fields === undefined) return;
  const names = fields.map(({ name }) => name);
  for (const name of partitionColumns) if (!names.includes(name)) fail(`partitions by ${name}, which is not a column`);
  const strict = fields.filter(({ nullable }) => nullable !== true).map(({ name }) => name);
  if (strict.length > 0) fail(`doesn't allow null in ${strict.join(', ')}, but pricelake's files do`);
}

function readFields(schemaString: string): { name: string; nullable?: unknown }[] | undefined {
  try {
    const { fields } = JSON.parse(schemaString) as { fields: { name: string }[] };
    return Array.isArray(fields) && fields.every((field) => field !== null) ? fields : undefined;
  } catch {
    return undefined;
  }
}

function checkPartitions(state: ReplayedTable, actions: readonly Action[], fail: (what: string) => void): void {
  const metaData = actions.find((action) => action.metaData != null)?.metaData;
  const wanted = [...(metaData?.partitionColumns ?? state.partitionColumns)].sort().join();
  for (const { add } of actions) {
    if (add == null) continue;
    const found = Object.keys(add.partitionValues).sort().join();
    if (found !== wanted) fail(`adds ${add.path} with values of [${found}]; the table is partitioned by [${wanted}]`);
  }
}
