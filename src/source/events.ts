import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { readElements, readFields, type Slice } from '../formats/json-scan.js';
import { PricelakeError } from '../io/errors.js';
import type { Io } from '../io/io.js';
import { listChain } from '../journal/journal.js';
import type { Landing } from '../journal/landings.js';
import type { EntryOf } from '../journal/run-entry.js';
import { RowFile } from './row-file.js';

/** The webhooks' events that have landed. */
export interface LandedEvents {
  file: string;
  changes: number;
  bytes: number;
}

/**
 * Copies the changes of waiting events (section 6) into the run's landing, one a line. Later events belong to the next
 * run. The events' own files stay until the run has published.
 */
export async function landEvents(
  landing: Landing,
  listEvents: () => Promise<{ key: string; path: string }[]>,
  io: Io,
): Promise<LandedEvents> {
  const { journal } = landing;
  const file = path.join(landing.folder, 'webhook.ndjson');
  if (!journal.state.events.isDone) {
    const landed = new Set(listLandedEvents(landing));
    const waiting = (await listEvents()).filter(({ key }) => !landed.has(key));
    if (waiting.length > 0) {
      await copyEvents(file, landing, waiting);
      io.log('debug', 'landed', { what: 'events', events: waiting.length });
    }
    await journal.append({ type: 'events.done' });
  }
  const { changes, bytes } = journal.state.events;
  return { file, changes, bytes };
}

/** Keys of the events that the run has taken over. */
export function listLandedEvents({ journal }: Landing): string[] {
  return listChain(journal.state.events.keys);
}

async function copyEvents(file: string, landing: Landing, events: { key: string; path: string }[]): Promise<void> {
  const { journal } = landing;
  const rows = await RowFile.open<EntryOf<'event'>>(file, journal, journal.state.events.bytes);
  try {
    for (const event of events) {
      const body = await readFile(event.path);
      const changes = readChanges(body, event.path);
      await rows.land(body, changes, (mark) => ({ type: 'event', key: event.key, rows: changes.length, ...mark }));
    }
  } finally {
    await rows.close();
  }
}

/** Finds the changes in the body of an event, which the receiver has checked. */
function readChanges(body: Buffer, file: string): Slice[] {
  try {
    const changes = readFields(body).get('changes');
    if (changes === undefined || body.toString('latin1', changes.start, changes.end) === 'null') return [];
    return readElements(body, changes.start);
  } catch (cause) {
    if (!(cause instanceof SyntaxError)) throw cause;
    const hint = 'Move the file away; the feed also has its changes.';
    throw new PricelakeError('lake_invalid', `${file}: not the event that was received`, { hint }, { cause });
  }
}
