import { randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import * as z from 'zod';
import { writeDurably } from '../lake/durable.js';
import { ignoreMissing, type Lake, privatePath } from '../lake/layout.js';

const noteSchema = z.strictObject({ url: z.string(), copy: z.uuid(), generation: z.int().min(0) });

/** `_pricelake/remote.json`: which remote this folder is a copy of, and since which lease the two are in line. */
export type CopyNote = z.infer<typeof noteSchema>;

const notePath = (lake: Lake) => privatePath(lake, 'remote.json');

/** Undefined for a folder that is no copy of this remote; also where the note is damaged: then the remote is fetched. */
export async function readNote(lake: Lake, url: string): Promise<CopyNote | undefined> {
  const text = await readFile(notePath(lake), 'utf8').catch(ignoreMissing);
  if (text === undefined) return undefined;
  try {
    const note = noteSchema.parse(JSON.parse(text));
    return note.url === url ? note : undefined;
  } catch {
    return undefined;
  }
}

export async function writeNote(lake: Lake, note: CopyNote): Promise<void> {
  await writeDurably(lake, notePath(lake), `${JSON.stringify(note)}\n`);
}

/** Of a folder that has none yet. Generation 0 was never held: it is in line with an empty remote alone. */
export function makeNote(url: string): CopyNote {
  return { url, copy: randomUUID(), generation: 0 };
}
