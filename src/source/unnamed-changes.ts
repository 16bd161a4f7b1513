import { readLines } from '../formats/ndjson.js';
import type { LandedFeed } from './feed.js';
import { hasItem, readChangeId } from './page.js';

/**
 * Lists the ids of changes that don't name their item (API §2, Change). Omits a change if another dataset's feed, or
 * one of `others`, names the change's item.
 */
export async function listUnnamedChanges(feed: LandedFeed, others: readonly ChangeFile[]): Promise<bigint[]> {
  const unnamed = new Set<bigint>();
  for await (const { id, isNamed } of readChanges(feed)) if (!isNamed) unnamed.add(id);
  // Reads the feed again for changes that name their item. There may be too many of these ids to keep them in memory.
  for (const landed of unnamed.size === 0 ? [] : [feed, ...others]) {
    for await (const { id, isNamed } of readChanges(landed)) if (isNamed) unnamed.delete(id);
  }
  return [...unnamed];
}

type ChangeFile = Pick<LandedFeed, 'file' | 'changes'>;

async function* readChanges({ file, changes }: ChangeFile) {
  if (changes === 0) return;
  for await (const line of readLines(file)) {
    const change = readChange(line);
    if (change !== undefined) yield change;
  }
}

/** Reads a change's id, and whether it names its item. Returns undefined if the line is damaged. */
function readChange(line: Buffer): { id: bigint; isNamed: boolean } | undefined {
  try {
    const id = readChangeId(line, { start: 0 });
    return id === undefined ? undefined : { id, isNamed: hasItem(line, { start: 0 }) };
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}
