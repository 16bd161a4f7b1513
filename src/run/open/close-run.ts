import { dropRun } from '../../journal/landings.js';
import type { EntryOf } from '../../journal/run-entry.js';
import { listLandedEvents } from '../../source/events.js';
import { removeBackfill } from '../../source/land-histories.js';
import { removeEvents } from '../../webhook/event-files.js';
import type { Run } from './open-run.js';

/** Forgets a run that found nothing to do; the changes of its events and backfill are in history already. */
export async function dropIdleRun(run: Run): Promise<void> {
  await removeEvents(run.lake.root, listLandedEvents(run.landing), run.landing.runId, run.io);
  await removeBackfill(run.landing, run.lake.root, run.memory);
  await dropRun(run.landing);
}

/** Counts the calls of this process. */
export function noteCalls({ client }: Pick<Run, 'client'>): EntryOf<'calls'> {
  return { type: 'calls', calls: client.calls(), refused: client.refusedCalls() };
}

/** A try that ends early was mostly refused: the run's row says so, if a later try writes it. */
async function noteLastCalls(run: Run): Promise<void> {
  const { journal } = run.landing;
  if (journal.state.stage === 'ended' || run.client.refusedCalls() === 0) return;
  await journal.append(noteCalls(run)).catch(() => {}); // an idle run has closed it
}

/** Releases everything; the landing stays, so that an unfinished run can continue. */
export async function closeRun(run: Run): Promise<void> {
  await run.typing.finish().catch(() => {}); // nothing may use the database when it closes
  await run.session.close();
  await noteLastCalls(run);
  await run.landing.journal.close().catch(() => {}); // an idle run has closed it
  await run.memory.close();
  await run.client.close();
  await run.lock.release();
}
