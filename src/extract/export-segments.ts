import { readdir, rm } from 'node:fs/promises';
import path from 'node:path';
import type { Landing } from '../landing/landing.js';

/** A synced piece of an export: whole lines. */
export interface LandedSegment {
  path: string;
  rows: number;
  bytes: number;
  /** When its export was asked for, ISO 8601. */
  readAt: string;
}

/** True for a file of an export of one website: it has the name of its shard. */
export function isOfOneSite({ path: file }: Pick<LandedSegment, 'path'>): boolean {
  return /^export-(?:dataset-\d+-)?site-\d+-\d+-/u.test(path.basename(file));
}

/** Segments of the shard's complete export; undefined while it has none. */
export function listSegments(landing: Landing, name: string): LandedSegment[] | undefined {
  const done = landing.journal.all('export.done').find(({ shard }) => shard === name);
  return done === undefined ? undefined : listOf(landing, done);
}

/** Segments of exports that the service cut: paid for, and no copy. */
export function listCutSegments(landing: Landing): LandedSegment[] {
  return landing.journal.all('export.cut').flatMap((cut) => listOf(landing, cut));
}

interface Attempt {
  shard: string;
  attempt: number;
}

function listOf({ journal, folder }: Landing, { shard, attempt }: Attempt): LandedSegment[] {
  const isIts = (entry: Attempt) => entry.shard === shard && entry.attempt === attempt;
  const readAt = journal.all('export.begin').find(isIts)?.readAt ?? '';
  return journal
    .all('export.segment')
    .filter(isIts)
    .map(({ file, rows, bytes }) => ({ path: path.join(folder, file), rows, bytes, readAt }));
}

/** Removes what attempts before left: an export counts whole or not at all, but for one that the service cut. */
export async function removeSegments({ journal, folder }: Landing, name: string): Promise<void> {
  const kept = journal
    .all('export.cut')
    .filter(({ shard }) => shard === name)
    .map((cut) => `export-${name}-${cut.attempt}-`);
  for (const file of await readdir(folder)) {
    const isKept = kept.some((prefix) => file.startsWith(prefix));
    if (file.startsWith(`export-${name}-`) && !isKept) await rm(path.join(folder, file));
  }
}
