import type { ApiClient } from '../api/client.js';
import { isNamedId } from '../formats/row-id.js';
import { type ErrorCode, PricelakeError } from '../io/errors.js';
import type { Io } from '../io/io.js';
import type { Landing } from '../journal/landings.js';
import { cutItemTails, type ItemFile, landSingleItems, listItemFiles, readLandedIds } from './item-files.js';

/** Items read again to compare them with the lake. */
export interface LandedSample {
  files: ItemFile[];
  /** Items that the service does not show. */
  missing: readonly bigint[];
}

/** Reads items one by one (section 4, /items/{id}) and lands them, except those that have landed. */
export async function landSample(
  client: ApiClient,
  landing: Landing,
  itemIds: readonly bigint[],
  io: Io,
): Promise<LandedSample> {
  const missing = landing.journal.state.comparisons.missing ?? (await readSample(client, landing, itemIds, io));
  return { files: listItemFiles(landing, 'sample'), missing };
}

/** Errors that cost a run only its proof. Others, such as a revoked key or a stop, end it at once. */
const SKIPPED: ErrorCode[] = [
  'quota',
  'budget',
  'unavailable',
  'offline',
  'contract',
  'not_found',
  'bad_request',
  'plan_refuses',
];

/** Warns that the run has no sample. Throws errors that end a run. */
export function skipSample(error: unknown, io: Io): undefined {
  const { code, message } = allowSkipping(error);
  io.log('warn', 'sample.skipped', { code, reason: message });
}

/** Returns the error of a call that a run can do without. Throws errors that end a run. */
export function allowSkipping(error: unknown): PricelakeError {
  if (error instanceof PricelakeError && SKIPPED.includes(error.code)) return error;
  throw error;
}

async function readSample(client: ApiClient, landing: Landing, itemIds: readonly bigint[], io: Io): Promise<bigint[]> {
  await cutItemTails(landing, 'sample');
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
