import { join } from 'node:path';
import { formatCount } from '../../formats/count.js';
import { PricelakeError } from '../../io/errors.js';
import { dropRun } from '../../journal/landings.js';
import { rewindJournal } from '../../journal/rewind.js';
import { START_AGAIN } from '../../journal/run-state.js';
import type { MendLanding } from '../../run/open/wings.js';
import { checkLanding } from '../../verify/check-landing.js';

/**
 * Verifies the checksums of the data that earlier attempts of a run have downloaded. If data was altered, rewinds the
 * run to the point before it, so that this data and all later data is downloaded again. Complete exports are kept. An
 * altered export counts as interrupted, so it is bought again if the budget and the quota allow. Bytes that the journal
 * doesn't list are cut off.
 * @param run `requiresHeld` is true if the run's batch must be published unchanged, and `isCommitted` if the run has
 *   already committed a table
 * @returns undefined if the run was deleted, because its data can be downloaded again at the cost of calls only
 * @throws PricelakeError `lake_invalid` if the data can't be downloaded again without a decision of the user
 */
export const mendLanding: MendLanding = async (landing, { requiresHeld, isCommitted }, io) => {
  const { folder, runId, journal } = landing;
  const { faults } = await checkLanding(folder);
  const [fault] = faults;
  if (fault === undefined) return landing;
  const what = `${join(folder, fault.file)} ${fault.what}`;
  const lines = faults.flatMap(({ line }) => line ?? []);
  const isFixed = requiresHeld || isCommitted || lines.length < faults.length;
  const mended = isFixed ? undefined : await rewindJournal(join(folder, 'journal.ndjson'), lines);
  if (mended !== undefined) {
    await journal.close();
    const { rows } = mended;
    io.log('warn', 'landing.altered', { runId, what, ...(rows === 0n ? {} : { rows }) });
    return { ...landing, journal: mended.journal };
  }
  const { taken } = journal.state.exports;
  if (taken === 0n && !requiresHeld) {
    await dropRun(landing);
    io.log('warn', 'landing.altered', { runId, what });
    return undefined;
  }
  const cost =
    taken === 0n
      ? ''
      : ` ${formatCount(taken)} export rows that this run has downloaded will be counted and charged again.`;
  throw new PricelakeError('lake_invalid', what, { hint: `${START_AGAIN}${cost}` });
};
