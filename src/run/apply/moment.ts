import type { Landing } from '../../journal/landings.js';
import type { World } from '../open/run-parts.js';
import type { Moment } from '../open/wings.js';

/** Returns the time that the run records for its findings. Journals it, so that later attempts and replays reuse it. */
export async function fixMoment({ client, io }: World, { journal }: Landing): Promise<Moment> {
  const fixed = journal.state.moment;
  if (fixed !== undefined) return fixed;
  const moment = { at: io.now().toISOString(), serviceAt: client.serviceTime()?.toISOString() ?? null };
  await journal.append({ type: 'normalize', ...moment });
  return moment;
}
