import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { settleAll } from '../io/side-by-side.js';
import { MEMORY_FILE } from '../journal/memory.js';
import { writeDurably } from '../lake/durable.js';
import { ignoreMissing, PRIVATE_FOLDER } from '../tables/layout.js';
import type { ObjectStore } from './object-store.js';
import type { Ends } from './send-tables.js';

/** Shows that a prefix holds a lake. */
export const MARKER = `${PRIVATE_FOLDER}/format.json`;
/** `lake.json` is last, because it names what the newest run published. */
const STEPS = [[MARKER], [`${PRIVATE_FOLDER}/${MEMORY_FILE}`, 'ATTRIBUTION.md', 'catalog.sql'], ['lake.json']];
const SMALL_FILES = STEPS.flat();

export async function sendSmallFiles({ store, lake }: Ends): Promise<void> {
  const present = new Map((await readAll(store)).map(({ name, there }) => [name, there]));
  const send = async (name: string) => {
    const there = present.get(name);
    const here = await readFile(join(lake.root, name)).catch(ignoreMissing);
    if (here === undefined && there !== undefined) await store.remove([name]);
    if (here !== undefined && (there === undefined || !here.equals(there))) await store.write(name, here);
  };
  for (const names of STEPS) await settleAll(names.map(send));
}

/** Never fetched: people run it in DuckDB, where its commands could do anything. */
const CATALOG = 'catalog.sql';

export async function fetchSmallFiles({ store, lake }: Ends): Promise<void> {
  for (const { name, there } of await readAll(store)) {
    if (name === CATALOG) continue;
    if (there === undefined) await rm(join(lake.root, name), { force: true });
    else await writeDurably(lake, join(lake.root, name), there.toString());
  }
}

function readAll(store: ObjectStore): Promise<{ name: string; there: Buffer | undefined }[]> {
  return Promise.all(SMALL_FILES.map(async (name) => ({ name, there: (await store.read(name))?.bytes })));
}
