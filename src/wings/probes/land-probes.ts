import * as z from 'zod';
import type { ApiClient } from '../../api/client.js';
import { int64 } from '../../api/wire-types.js';
import type { Io } from '../../io/io.js';
import type { Landing } from '../../journal/landings.js';
import type { Memory } from '../../journal/memory.js';
import { allowSkipping } from '../../source/allow-skipping.js';

/** Only the required fields are parsed, so that changes in other fields can't stop a run. */
const newestItem = z.looseObject({
  content: z.array(z.looseObject({ lastSeenAt: z.string(), source: z.looseObject({ modelId: int64 }) })),
});

/**
 * Asks for the newest time at which an item of each website was seen, one call each (API §4, /items by
 * `-lastSeen`), and journals the answers. Skips websites that an earlier process of the run asked. A failed call ends
 * the step without an error, because it is optional.
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
