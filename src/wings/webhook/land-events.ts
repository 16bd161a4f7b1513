import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { readElements, readFields, type Slice } from '../../formats/json-scan.js';
import { PricelakeError } from '../../io/errors.js';
import type { Io } from '../../io/io.js';
import { listChain } from '../../journal/chain.js';
import type { Landing } from '../../journal/landings.js';
import type { EntryOf } from '../../journal/run-entry.js';
import { NOTHING_LANDED } from '../../journal/sources.js';
import { RowFile } from '../../source/row-file.js';

const SOURCE = 'webhook';
const FILE = 'webhook.ndjson';

/**
 * Copies the changes of the saved events (API §6) to the run's folder, one per line. Events that arrive later belong to
 * the next run. The files of the events are kept until the run has published.
 */
export async function landEvents(
  landing: Landing,
  listEvents: () => Promise<{ key: string; path: string }[]>,
  io: Io,
): Promise<void> {
  const { journal } = landing;
  if (readLanded(landing).done !== undefined) return;
  const landed = new Set(listLandedEvents(landing));
  const waiting = (await listEvents()).filter(({ key }) => !landed.has(key));
  if (waiting.length > 0) {
    await copyEvents(landing, waiting);
    io.log('debug', 'landed', { what: 'events', events: waiting.length });
  }
  await journal.append({ type: 'source.done', source: SOURCE });
}

export function listLandedEvents(landing: Landing): string[] {
  return listChain(readLanded(landing).keys);
}

const readLanded = ({ journal }: Landing) => journal.state.sources.get(SOURCE) ?? NOTHING_LANDED;

async function copyEvents(landing: Landing, events: { key: string; path: string }[]): Promise<void> {
  const { journal, folder } = landing;
  const { bytes } = readLanded(landing);
  const rows = await RowFile.open<EntryOf<'source.rows'>>(path.join(folder, FILE), journal, bytes);
  const entry = { type: 'source.rows', source: SOURCE, origin: 'webhook', file: FILE } as const;
  try {
    for (const { key, path } of events) {
      const body = await readFile(path);
      const changes = readChanges(body, path);
      await rows.land(body, changes, (mark) => ({ ...entry, key, rows: changes.length, ...mark }));
    }
  } finally {
    await rows.close();
  }
}

/** Finds the changes in the body of an event. The receiver has already validated the body. */
function readChanges(body: Buffer, file: string): Slice[] {
  try {
    const changes = readFields(body).get('changes');
    if (changes === undefined || body.toString('latin1', changes.start, changes.end) === 'null') return [];
    return readElements(body, changes.start);
  } catch (cause) {
    if (!(cause instanceof SyntaxError)) throw cause;
    const hint = 'Move the file away. The feed also contains its changes.';
    throw new PricelakeError('lake_invalid', `${file} is not the event that was received`, { hint }, { cause });
  }
}
