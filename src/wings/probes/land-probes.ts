import * as z from 'zod';
import type { ApiClient } from '../../api/client.js';
import { int64 } from '../../api/wire-types.js';
import type { Io } from '../../io/io.js';
import type { Landing } from '../../journal/landings.js';
import type { Memory } from '../../journal/memory.js';
import { allowSkipping } from '../../source/allow-skipping.js';

/** Only the needed fields are parsed, so that a change in another field can't stop a run. */
const newestItem = z.looseObject({
  content: z.array(z.looseObject({ lastSeenAt: z.string(), source: z.looseObject({ modelId: int64 }) })),
});

/**
 * Asks when an item of each website was last seen, with one call per website (API §4, /items, sort `-lastSeen`).
 * Records the responses in the journal. If a call fails, no error is thrown, because runs don't need this information.
 * @param sites the websites that no earlier attempt of the run has asked about
 */
export async function landProbes(
  client: ApiClient,
  { journal }: Landing,
  sites: readonly bigint[],
  { memory, io }: { memory: Pick<Memory, 'append'>; io: Io },
): Promise<void> {
  try {
    for (const site of sites) {
      const { content } = await client.json('/items', { site, sort: '-lastSeen', size: 1 }, newestItem);
      const [item] = content;
      const found = { source: item?.source.modelId ?? null, seenAt: item?.lastSeenAt ?? null };
      await journal.append({ type: 'probe.site', site, ...found, calls: client.calls() });
    }
  } catch (error) {
    const { code, message } = allowSkipping(error);
    io.log('warn', 'probe.skipped', { code, reason: message });
  }
  await memory.append({ type: 'probed', at: io.now().toISOString() });
  await journal.append({ type: 'probe.done', calls: client.calls() });
}
