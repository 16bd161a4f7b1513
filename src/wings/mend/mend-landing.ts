import { join } from 'node:path';
import { formatCount } from '../../formats/count.js';
import { PricelakeError } from '../../io/errors.js';
import { dropRun } from '../../journal/landings.js';
import { rewindJournal } from '../../journal/rewind.js';
import { START_AGAIN } from '../../journal/run-state.js';
import type { MendLanding } from '../../run/open/wings.js';
import { checkLanding } from '../../verify/check-landing.js';

/**
 * Compares what earlier tries landed with its checksums. If bytes have changed, the run goes back to before them, so
 * that only these and later ones are read again. Complete exports stay. An altered export counts as interrupted: it is
 * bought again if budget and quota allow it. Cuts off bytes that the journal does not name.
 * @param run `requiresHeld`: its batch must be published unchanged; `isCommitted`: it has committed a table
 * @returns undefined if the run was removed, which only costs calls
 * @throws PricelakeError `lake_invalid` if rows are lost that are bought again only if a person decides so
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
  const cost = taken === 0n ? '' : ` ${formatCount(taken)} export rows that this run has taken count and cost again.`;
  throw new PricelakeError('lake_invalid', what, { hint: `${START_AGAIN}${cost}` });
};
