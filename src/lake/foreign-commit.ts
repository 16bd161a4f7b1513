import type { Lake } from '../tables/layout.js';
import type { TableName } from '../tables/table.js';
import { readDeltaColumns } from './column-difference.js';
import { type Action, type LogState, type NamedCommit, readName, readNumRecords } from './delta-actions.js';
import { findVersions, listLog, logPath, readEntry, readLog } from './delta-log.js';

const OURS = 'pricelake/';

export interface ForeignCommit extends NamedCommit {
  table: TableName;
  /** A description of the commit's change to rows or columns; undefined if the commit changed neither. */
  change: string | undefined;
}

/** Finds the commits by other programs after the version `since`, in order, as far back as the log goes. */
export async function findForeignCommits(lake: Lake, table: TableName, since: bigint): Promise<ForeignCommit[]> {
  const versions = findVersions(await listLog(lake, table), 'json').filter((version) => version > since);
  let isOurs = true;
  for (const version of versions)
    isOurs &&= isOursBy(readName(version, await readEntry(logPath(lake, table, version, 'json'))));
  if (isOurs) return [];
  // Replays the log, because describing a change requires the table's state before the change.
  const found: ForeignCommit[] = [];
  const onCommit = (before: LogState, version: bigint, actions: readonly Action[]) => {
    const name = readName(version, actions);
    if (version <= since || isOursBy(name)) return;
    found.push({ table, ...name, change: describeRows(before, actions) ?? describeColumns(before, actions) });
  };
  await readLog(lake, table, { since, onCommit });
  return found;
}

const isOursBy = ({ engine }: NamedCommit) => engine.startsWith(OURS);

function describeRows({ files }: LogState, actions: readonly Action[]): string | undefined {
  const adds = actions.flatMap(({ add }) => (add == null ? [] : [add]));
  const removes = actions.flatMap(({ remove }) => (remove == null ? [] : [remove]));
  const added = sumRows(adds.map(({ stats }) => stats));
  const removed = sumRows(removes.map(({ path }) => files.get(path)?.stats));
  const counts = `${removed ?? 'unknown'} rows became ${added ?? 'unknown'}`;
  if ([...adds, ...removes].some(({ dataChange }) => dataChange !== false)) {
    return `changed rows: ${counts} in the files that it replaced`;
  }
  if (added !== undefined && added === removed) return undefined;
  return `claims that no rows changed, but ${counts}`;
}

/** Adds up row counts. Returns undefined if any file doesn't record its row count. */
function sumRows(stats: readonly (string | null | undefined)[]): number | undefined {
  let sum = 0;
  for (const text of stats) {
    const rows = readNumRecords(text);
    if (rows === undefined) return undefined;
    sum += rows;
  }
  return sum;
}

/** Describes a change to columns or partitioning. Returns undefined if only properties or comments have changed. */
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
