import type { ForeignCommit } from '../tables/table.js';
import { readDeltaColumns } from './column-difference.js';
import { type Action, type LogState, readNumRecords } from './delta-actions.js';

const OURS = 'pricelake/';
const MAX_NAME = 60;

/** Describes the next commit of a log if another program wrote it. `state` is the table before it. */
export function describeForeign(
  state: LogState,
  version: bigint,
  actions: readonly Action[],
): ForeignCommit | undefined {
  const info = actions.find(({ commitInfo }) => commitInfo != null)?.commitInfo;
  const engine = cleanName(info?.engineInfo);
  if (engine.startsWith(OURS)) return undefined;
  return {
    table: state.table,
    version,
    operation: cleanName(info?.operation),
    engine,
    change: describeRows(state, actions) ?? describeColumns(state, actions),
    raisesProtocol: actions.some(({ protocol }) => protocol != null),
  };
}

/** Makes one short line of a text in the log, which anybody may write. */
function cleanName(text: unknown): string {
  if (typeof text !== 'string' || text === '') return 'unknown';
  return text.replaceAll(/[^\x20-\x7e]/g, '?').slice(0, MAX_NAME);
}

function describeRows({ files }: LogState, actions: readonly Action[]): string | undefined {
  const adds = actions.flatMap(({ add }) => (add == null ? [] : [add]));
  const removes = actions.flatMap(({ remove }) => (remove == null ? [] : [remove]));
  const added = sumRows(adds.map(({ stats }) => stats));
  const removed = sumRows(removes.map(({ path }) => files.get(path)?.stats));
  const counts = `${removed ?? 'unknown'} rows became ${added ?? 'unknown'}`;
  if ([...adds, ...removes].some(({ dataChange }) => dataChange !== false)) {
    return `changed rows: in the files that it replaced, ${counts}`;
  }
  if (added !== undefined && added === removed) return undefined;
  return `says that no rows changed, but ${counts}`;
}

/** Undefined if a file does not state its number of rows. */
function sumRows(stats: readonly (string | null | undefined)[]): number | undefined {
  let sum = 0;
  for (const text of stats) {
    const rows = readNumRecords(text);
    if (rows === undefined) return undefined;
    sum += rows;
  }
  return sum;
}

/** Describes changes of columns and layout. Properties and comments of a table may change freely. */
function describeColumns({ metaData: old }: LogState, actions: readonly Action[]): string | undefined {
  const metaData = actions.find((action) => action.metaData != null)?.metaData;
  if (metaData == null) return undefined;
  if (old === undefined) return 'created the table';
  const columns = (text: string) => JSON.stringify([...readDeltaColumns(text)].sort());
  if (columns(old.schemaString) !== columns(metaData.schemaString)) return 'changed the columns';
  if (old.partitionColumns.join() !== metaData.partitionColumns.join()) return 'changed the partition columns';
  const mapping = metaData.configuration['delta.columnMapping.mode'] ?? 'none';
  return mapping === 'none' ? undefined : `set column mapping to ${mapping}`;
}

/** `version 7 (DELETE by delta-rs:py-1.6.6)` */
export function nameCommit({ version, operation, engine }: ForeignCommit): string {
  return `version ${version} (${operation} by ${engine})`;
}
