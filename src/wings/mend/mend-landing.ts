import { join } from 'node:path';
import { formatCount } from '../../formats/count.js';
import { PricelakeError } from '../../io/errors.js';
import { dropRun } from '../../journal/landings.js';
import { rewindJournal } from '../../journal/rewind.js';
import { START_AGAIN } from '../../journal/run-state.js';
import type { MendLanding } from '../../run/open/wings.js';
import { checkLanding } from '../../verify/check-landing.js';

/**
 * Verifies the checksums of what earlier processes of a run downloaded. If data has changed, rewinds the run to before
 * it, so that only that data and later data is downloaded again. Complete exports are kept. An altered export counts as
 * interrupted, so it is bought again if budget and quota allow. Bytes that aren't in the journal are truncated.
 * @param run `requiresHeld`: its batch must be published unchanged; `isCommitted`: it has committed a table
 * @returns undefined if the run was deleted, because downloading it again only costs calls
 * @throws PricelakeError `lake_invalid` if rows are lost that can only be bought again if the user decides to
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
