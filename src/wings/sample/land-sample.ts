import type { ApiClient } from '../../api/client.js';
import { isNamedId } from '../../formats/row-id.js';
import type { Io } from '../../io/io.js';
import type { Landing } from '../../journal/landings.js';
import { type ItemFile, landSingleItems, listItemFiles, readLandedIds } from '../../source/item-files.js';

export interface LandedSample {
  files: ItemFile[];
  missing: readonly bigint[];
}

/** Reads items one by one (API §4, /items/{id}) and saves them. Skips items that this run has already saved. */
export async function landSample(
  client: ApiClient,
  landing: Landing,
  itemIds: readonly bigint[],
  io: Io,
): Promise<LandedSample> {
  const missing = landing.journal.state.comparisons.missing ?? (await readSample(client, landing, itemIds, io));
  return { files: listItemFiles(landing, 'sample'), missing };
}

async function readSample(client: ApiClient, landing: Landing, itemIds: readonly bigint[], io: Io): Promise<bigint[]> {
  const left = new Set(itemIds);
  for (const { path } of listItemFiles(landing, 'sample')) {
    for await (const id of readLandedIds(path, isNamedId)) left.delete(id);
  }
  const missing: bigint[] = [];
  const part = { client, dataset: undefined };
  await landSingleItems(part, landing, 'sample', [...left], io, (id) => missing.push(id));
  await landing.journal.append({ type: 'sample.done', missing, calls: client.calls() });
  return missing;
}
