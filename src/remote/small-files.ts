import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { writeDurably } from '../lake/durable.js';
import { ignoreMissing, PRIVATE_FOLDER } from '../lake/layout.js';
import type { ObjectStore } from './object-store.js';
import type { Ends } from './send-tables.js';

/** Says that a prefix holds a lake. */
export const MARKER = `${PRIVATE_FOLDER}/format.json`;
/** What the newest run published; `lake.json` last. */
const PUBLISHED = ['ATTRIBUTION.md', 'catalog.sql', 'lake.json'];
/** What runs remember beside the tables. */
const REMEMBERED = ['idle-runs.ndjson', 'histories.ndjson', 'plan.json', 'broken-exports.json', 'check-counts.json'];
export const SMALL_FILES = [MARKER, ...REMEMBERED.map((name) => `${PRIVATE_FOLDER}/${name}`), ...PUBLISHED];

/** Makes the remote's small files like those of this folder, in the order in which they count. */
export async function sendSmallFiles({ store, lake }: Ends): Promise<void> {
  for (const { name, there } of await readAll(store)) {
    const here = await readFile(join(lake.root, name)).catch(ignoreMissing);
    if (here === undefined && there !== undefined) await store.remove([name]);
    if (here !== undefined && (there === undefined || !here.equals(there))) await store.write(name, here);
  }
}

/** Makes the small files of this folder like the remote's. */
export async function fetchSmallFiles({ store, lake }: Ends): Promise<void> {
  for (const { name, there } of await readAll(store)) {
    if (there === undefined) await rm(join(lake.root, name), { force: true });
    else await writeDurably(lake, join(lake.root, name), there.toString());
  }
}

function readAll(store: ObjectStore): Promise<{ name: string; there: Buffer | undefined }[]> {
  return Promise.all(SMALL_FILES.map(async (name) => ({ name, there: (await store.read(name))?.bytes })));
}
