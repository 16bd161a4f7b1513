import { createOfflineClient } from '../../api/offline-client.js';
import { PricelakeError } from '../../io/errors.js';
import type { Landing } from '../../journal/landings.js';
import { openLake } from '../../lake/lake.js';
import type { OpenOptions } from '../open/open-run.js';

/**
 * Opens a run that publishes the held batch: it has no client, and needs a held batch.
 * @throws PricelakeError `lake_invalid` when there is no lake; opening throws `nothing_held` when no batch is held.
 */
export async function openHeld(lakePath: string): Promise<Pick<OpenOptions, 'connect' | 'accept'>> {
  await openLake(lakePath, { create: false });
  return {
    connect: () => createOfflineClient('--publish-held'),
    accept: (unfinished) => requireHeld(lakePath, unfinished),
  };
}

function requireHeld(lakePath: string, unfinished: Landing | undefined): void {
  if (unfinished?.journal.state.stage === 'held') return;
  const state = unfinished === undefined ? 'its last run has ended' : `run ${unfinished.runNumber} was interrupted`;
  throw new PricelakeError('nothing_held', `${lakePath}: no batch is held; ${state}`, {
    hint: 'Run `pricelake sync` without --publish-held.',
  });
}
