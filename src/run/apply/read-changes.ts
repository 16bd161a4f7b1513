import { ItemReader } from '../../apply/batch.js';
import { findPendingChanges, type LandedChanges, readChanges } from '../../apply/changes.js';
import {
  type DatasetName,
  type DatasetRename,
  findRenamedDatasets,
  writeDatasetPattern,
} from '../../apply/dataset-names.js';
import type { TypedFile } from '../../apply/type-file.js';
import type { LandedDatasets } from '../../source/datasets.js';
import type { Relation } from '../../sql/relation.js';
import { sql } from '../../sql/sql.js';
import type { DatasetNames } from '../land/compare-listing.js';
import type { LandedInput } from '../land/land-run.js';
import type { Run } from '../open/open-run.js';

/** The lake before the run, as far as applying reads it. */
interface LakeBefore {
  items: Relation;
  history: Relation;
  stale_items: Relation;
  sites: Relation;
  runs: Relation;
}

/** The changes of a run beside the lake before it. */
export interface ReadChanges {
  lake: LakeBefore;
  /** Files of changes, typed. */
  files: readonly TypedFile[];
  changes: LandedChanges;
  /** Changes that are not yet in items. */
  pending: Relation;
  names: DatasetNames;
  renames: readonly DatasetRename[];
  datasetPattern: string | null;
  reader: ItemReader;
}

/** Reads the landed changes, and finds those that are not yet in items. */
export async function readLandedChanges(
  run: Run,
  landed: LandedInput,
  { datasets }: LandedDatasets,
  files: readonly TypedFile[],
): Promise<ReadChanges> {
  const { graph, before, landing, selection } = run;
  const [items, history, stale_items] = [
    await before.rows('items'),
    await before.rows('history'),
    await before.rows('stale_items'),
  ];
  const lake = { items, history, stale_items, sites: await before.rows('sites'), runs: await before.rows('runs') };
  const { window } = landed;
  const changes = await readChanges(graph, files, window, lake, {
    runId: landing.runId,
    isSelected: selection !== 'all',
  });
  const pending = findPendingChanges(graph, window, changes, lake);
  const known = await readKnownDatasets(run);
  const datasetPattern = writeDatasetPattern([...datasets, ...known].map(({ name }) => name));
  return {
    ...{ lake, files, changes, pending, datasetPattern },
    names: nameDatasets(run, datasets, known),
    renames: findRenamedDatasets(known, datasets),
    reader: new ItemReader(graph, datasetPattern),
  };
}

/** Datasets as the last run has noted them. */
async function readKnownDatasets({ graph, before }: Run): Promise<DatasetName[]> {
  const datasets = await before.rows('datasets');
  const rows = await graph.rows(sql`SELECT dataset_id AS id, name FROM ${datasets}`);
  return rows.map(({ id, name }) => ({ id: id as bigint, name: String(name) }));
}

/** The datasets that can be read, by their names as items give them. Rows of the lake may give one its former name. */
function nameDatasets(
  { selection }: Run,
  visible: readonly DatasetName[],
  known: readonly DatasetName[],
): DatasetNames {
  const byId = new Map<bigint, string[]>();
  for (const { id, name } of visible) {
    const before = known.filter((one) => one.id === id).map((one) => one.name);
    byId.set(id, [...new Set([name, ...before])]);
  }
  // All datasets of the list are readable: whatever an item was in beside, it is in none of them any more.
  const isWhole = selection !== 'all' && selection.every((id) => byId.has(id));
  return { readable: isWhole ? undefined : [...byId.values()].flat(), byId };
}
