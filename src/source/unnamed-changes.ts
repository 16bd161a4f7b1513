import { findField, parseInt64 } from '../formats/json-scan.js';
import { readLines } from '../formats/ndjson.js';
import type { LandedEvents } from './events.js';
import type { LandedFeed } from './feed.js';
import { hasItem } from './page.js';

/**
 * Ids of landed changes of the feed whose item is null (section 2, Change), and that neither the feed of another dataset
 * nor a webhook of the run names.
 */
export async function listUnnamedChanges(feed: LandedFeed, events: LandedEvents): Promise<bigint[]> {
  const unnamed = new Set<bigint>();
  const named = new Set<bigint>();
  for (const { file, changes } of [feed, events]) {
    if (changes === 0) continue;
    for await (const line of readLines(file)) {
      const change = readChange(line);
      if (change?.isNamed === true) named.add(change.id);
      else if (change !== undefined && file === feed.file) unnamed.add(change.id);
    }
  }
  return [...unnamed].filter((id) => !named.has(id));
}

/** Undefined for a line that is no change with an id: typing says what is wrong with it. */
function readChange(line: Buffer): { id: bigint; isNamed: boolean } | undefined {
  try {
    const field = findField(line, 0, (name) => name === 'id');
    const id = field === undefined ? undefined : parseInt64(line, field);
    return id === undefined ? undefined : { id, isNamed: hasItem(line, { start: 0 }) };
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}
