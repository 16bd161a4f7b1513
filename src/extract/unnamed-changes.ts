import { findField, parseInt64 } from '../formats/json-scan.js';
import { readLines } from '../formats/ndjson.js';
import type { LandedEvents } from './events.js';
import type { LandedFeed } from './feed.js';

/**
 * Ids of landed changes of the feed whose item is null (section 2, Change), and that no webhook of the run has named.
 * A change whose id can't be read is left to typing.
 */
export async function listUnnamedChanges(feed: LandedFeed, events: LandedEvents): Promise<bigint[]> {
  const unnamed = new Set<bigint>();
  for await (const { id, isNamed } of readChanges(feed.file)) if (!isNamed) unnamed.add(id);
  if (events.changes > 0) {
    for await (const { id, isNamed } of readChanges(events.file)) if (isNamed) unnamed.delete(id);
  }
  return [...unnamed];
}

async function* readChanges(file: string): AsyncGenerator<{ id: bigint; isNamed: boolean }> {
  for await (const line of readLines(file)) {
    const field = findField(line, 0, (name) => name === 'id');
    const id = field === undefined ? undefined : parseInt64(line, field);
    if (id === undefined) continue;
    const item = findField(line, 0, (name) => name === 'item');
    yield { id, isNamed: item !== undefined && line.toString('latin1', item.start, item.end) !== 'null' };
  }
}
