import type { ApiClient } from '../api/client.js';
import { type ErrorCode, PricelakeError } from '../io/errors.js';
import type { Io } from '../io/io.js';
import type { Landing } from '../journal/landings.js';
import { cutItemTails, type ItemFile, listItemFiles } from './item-files.js';
import { landSingleItems } from './land-single-items.js';
import { readLandedIds } from './landed-ids.js';

/** Items read again to compare them with the lake. */
export interface LandedSample {
  files: ItemFile[];
  /** Items that the service does not show. */
  missing: readonly bigint[];
}

/** Reads items one by one (section 4, /items/{id}) and lands them. What has landed is not read again. */
export async function landSample(
  client: ApiClient,
  landing: Landing,
  itemIds: readonly bigint[],
  io: Io,
): Promise<LandedSample> {
  const missing = landing.journal.state.comparisons.missing ?? (await readSample(client, landing, itemIds, io));
  return { files: listItemFiles(landing, 'sample'), missing };
}

/** Errors of a call that only spoil a proof; with a revoked key, or when stopped, a run ends at once. */
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

/** Warns that a run goes without a sample; throws what ends a run. */
export function skipSample(error: unknown, io: Io): undefined {
  const { code, message } = allowSkipping(error);
  io.log('warn', 'sample.skipped', { code, reason: message });
}

/** The error of a call that a run can do without; throws what ends a run. */
export function allowSkipping(error: unknown): PricelakeError {
  if (error instanceof PricelakeError && SKIPPED.includes(error.code)) return error;
  throw error;
}

async function readSample(client: ApiClient, landing: Landing, itemIds: readonly bigint[], io: Io): Promise<bigint[]> {
  await cutItemTails(landing, 'sample');
  const left = new Set(itemIds);
  for (const { path } of listItemFiles(landing, 'sample')) {
    for await (const id of readLandedIds(path, (name) => name === 'id')) left.delete(id);
  }
  const missing: bigint[] = [];
  const part = { client, dataset: undefined };
  await landSingleItems(part, landing, 'sample', [...left], io, (id) => missing.push(id));
  await landing.journal.append({ type: 'sample.done', missing, calls: client.calls() });
  return missing;
}
