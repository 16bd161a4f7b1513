import * as z from 'zod';
import type { ApiClient } from '../../api/client.js';
import { int64 } from '../../api/wire-types.js';
import type { Pipeline } from '../../config/pipeline.js';
import { PricelakeError } from '../../io/errors.js';
import type { Dataset } from '../../journal/run-entry.js';
import { hasAsked, type RunState, readSelection } from '../../journal/run-state.js';
import { nameDatasets } from '../../plan/find-added.js';
import { listParts } from '../../source/dataset-client.js';
import type { DatasetSelection, TableState } from '../../tables/table.js';
import type { AccountPlan } from './account.js';

/** Returns the datasets that the lake copies; undefined while the lake is empty. */
export function readLakeSelection({ version, applied }: TableState): DatasetSelection | undefined {
  if (version < 0n) return undefined;
  return applied.datasets.isList ? applied.datasets.ids : 'all';
}

/**
 * Throws if the pipeline omits datasets that the lake contains, or that an unfinished run has begun to copy. The rows
 * of omitted datasets would no longer be updated. Makes no calls.
 * @throws PricelakeError `config`
 */
export function refuseNarrowing(
  { file, source }: Pick<Pipeline, 'file' | 'source'>,
  items: TableState,
  unfinished: RunState | undefined,
): void {
  const wanted = source.datasets;
  const begun = unfinished !== undefined && hasAsked(unfinished) ? readSelection(unfinished.begin) : undefined;
  for (const [had, who] of [
    [readLakeSelection(items), 'the lake contains'],
    [begun, 'the interrupted run copies'],
  ] as const) {
    if (had === undefined || wanted === 'all') continue;
    const lost = had === 'all' ? 'all datasets' : nameDatasets(had.filter((id) => !wanted.includes(id)));
    if (lost === '') continue;
    throw new PricelakeError(
      'config',
      `${file}: source.datasets is [${wanted.join(', ')}], but ${who} ${lost}, so those rows would no longer be updated`,
      {
        hint: `Restore \`datasets: ${showSelection(had)}\`, or set lake.path to another folder for a copy of fewer datasets.`,
      },
    );
  }
}

export function showSelection(selection: DatasetSelection): string {
  return selection === 'all' ? 'all' : `[${selection.join(', ')}]`;
}

const visible = z.array(z.looseObject({ id: int64, name: z.string(), items: int64 }));
const counted = z.looseObject({ totalElements: int64 });

/** Requests the datasets that the key can currently read (API §4, /datasets). */
export function fetchDatasets(client: ApiClient): Promise<z.output<typeof visible>> {
  return client.json('/datasets', {}, visible);
}

/**
 * Verifies that the key can read all datasets that the pipeline lists, before the run lands data. If one is unreadable
 * and the plan locks datasets, requests an item of it. The service returns 402 if the dataset is locked.
 * @throws PricelakeError `config` for a dataset that the key can't read, `plan_refuses` for a dataset that the plan
 * doesn't include
 */
export async function checkSelection(
  client: ApiClient,
  wanted: DatasetSelection,
  { lockedDatasets, name }: Pick<AccountPlan, 'lockedDatasets' | 'name'>,
): Promise<void> {
  if (wanted === 'all') return;
  const readable = (await fetchDatasets(client)).map(({ id }) => id).sort(compareIds);
  const missing = wanted.filter((id) => !readable.includes(id));
  if (missing.length === 0) return;
  const locked = lockedDatasets;
  if (locked > 0) await askForLocked(client, missing);
  const beyond = locked > 0 ? `; ${locked} more datasets of the account aren't in the "${name}" plan` : '';
  throw new PricelakeError(
    'config',
    `source.datasets: the key can't read ${nameDatasets(missing)}; it can read ${nameDatasets(readable) || 'none'}${beyond}`,
    { hint: "Correct the list. The service's portal shows the datasets of your account." },
  );
}

async function askForLocked(client: ApiClient, datasets: readonly Dataset[]): Promise<void> {
  for (const part of listParts(client, datasets)) {
    await part.client.json('/items', { size: 1 }, counted).catch((error: unknown) => {
      if (!(error instanceof PricelakeError) || !['bad_request', 'not_found'].includes(error.code)) throw error;
    });
  }
}

function compareIds(a: bigint, b: bigint): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
