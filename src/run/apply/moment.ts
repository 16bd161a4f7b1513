import type { Landing } from '../../journal/landings.js';
import type { World } from '../open/run-parts.js';
import type { Moment } from '../open/wings.js';

/** The moment that dates what the run finds: the same in each of its tries, and when it is done again from its bytes. */
export async function fixMoment({ client, io }: World, { journal }: Landing): Promise<Moment> {
  const fixed = journal.state.moment;
  if (fixed !== undefined) return fixed;
  const moment = { at: io.now().toISOString(), serviceAt: client.serviceTime()?.toISOString() ?? null };
  await journal.append({ type: 'normalize', ...moment });
  return moment;
}
