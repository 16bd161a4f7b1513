import type { Io } from '../../io/io.js';
import type { LandedInput } from '../land/land-run.js';
import type { Ledger, World } from '../open/run-parts.js';
import type { DescribedSample } from '../open/witness.js';
import type { ComparedRun } from './apply.js';

/** If a sample shows that the changes omit values, runs read all changed items in full for this many milliseconds. */
const DISTRUST_MS = 30 * 24 * 3600 * 1000;

/** True if the run reads all changed items in full, because a recent sample showed that the changes omit values. */
export async function isDistrusted(io: Io, { landing, memory }: Ledger, { account }: LandedInput): Promise<boolean> {
  const { journal } = landing;
  const { partialAt } = memory.state;
  const isRemembered = partialAt !== undefined && io.now().getTime() - partialAt.getTime() < DISTRUST_MS;
  const isOpen = account !== undefined && journal.state.stage === 'landed';
  if (isRemembered && isOpen && !journal.state.hydration.isDistrusted) await journal.append({ type: 'partial' });
  return journal.state.hydration.isDistrusted;
}

/**
 * Checks a sample of the items whose new values come only from changes, if a module does this. If the sample shows that
 * the changes omit values, records this in the journal and in the lake's saved state.
 */
export async function compareDescribed(
  { watches, io }: World,
  { landing, memory }: Ledger,
  compared: ComparedRun,
): Promise<DescribedSample> {
  const { landed, pending, skew, datasetPattern, baseRows, needed, exported } = compared;
  const mayAsk = landed.account !== undefined && landing.journal.state.stage === 'landed';
  const described = { plan: landed.plan, mayAsk, items: baseRows.rows, pending, skew, datasetPattern };
  for (const { compareDescribed: compare } of watches) {
    if (compare === undefined) continue;
    const sample = await compare({ ...described, needed: needed.rows, exported: exported.rows });
    if (sample.isPartial) {
      await memory.append({ type: 'partial', at: io.now().toISOString() });
      await landing.journal.append({ type: 'partial' });
      io.log('warn', 'changes.partial');
    }
    return sample;
  }
  return { ids: [], isPartial: false };
}
