import { readFile, rm, stat, utimes } from 'node:fs/promises';
import { basename, relative, sep } from 'node:path';
import { PricelakeError } from '../../io/errors.js';
import { quotePath } from '../../io/inner-path.js';
import { runSideBySide } from '../../io/side-by-side.js';
import { listFilesBelow } from '../../lake/list-files.js';
import { innerPath } from '../../tables/layout.js';
import type { MirroredFolder } from '../wing.js';
import { SMALL_BYTES } from './object-store.js';
import type { Ends } from './remote-table.js';
import { fetchAll } from './restore.js';
import { FILES } from './send-tables.js';

/**
 * Uploads a folder to the remote, and then deletes files from the remote that aren't in the folder. Pointer files are
 * uploaded last, so that they never refer to a missing file. Does nothing if the folder is missing or empty.
 * @param confirm throws if another machine has taken over, whose pointers and files must stay as they are
 */
export async function sendFolder(
  { store, lake, stop }: Ends,
  { name, pointer }: MirroredFolder,
  confirm: () => Promise<void>,
): Promise<void> {
  const paths = await listFilesBelow(innerPath(lake, name));
  if (paths.length === 0) return;
  const there = new Map((await store.list(`${name}/`)).map((object) => [object.key, object]));
  const keyOf = (path: string) => relative(lake.root, path).split(sep).join('/');
  const isPointer = (path: string) => basename(path) === pointer;
  const findChange = async (path: string) => {
    const key = keyOf(path);
    const { size, mtimeMs } = await stat(path);
    const found = there.get(key);
    const isAsLarge = found?.bytes === size;
    // Some stores round times down to whole seconds, so the times are compared in seconds.
    const isNewer = Math.floor(mtimeMs / 1000) > Math.floor(Number(found?.writtenAt) / 1000);
    if (isAsLarge && !isNewer && !isPointer(path)) return undefined;
    const bytes = await readFile(path);
    return isAsLarge && (await store.read(key))?.bytes.equals(bytes) ? undefined : { key, bytes };
  };
  const sendFile = async (path: string) => {
    stop?.throwIfAborted();
    const change = await findChange(path);
    if (change !== undefined) await store.write(change.key, change.bytes);
  };
  const others = paths.filter((path) => !isPointer(path));
  await runSideBySide(FILES, others, sendFile);
  const here = new Set(paths.map(keyOf));
  const unneeded = [...there.keys()].filter((key) => !here.has(key));
  const changes = (await runSideBySide(FILES, paths.filter(isPointer), findChange)).filter((one) => one !== undefined);
  if (changes.length + unneeded.length > 0) await confirm();
  await runSideBySide(FILES, changes, ({ key, bytes }) => store.write(key, bytes));
  await store.remove(unneeded);
}

/** Replaces a folder with the remote's. @throws PricelakeError `lake_invalid` if an object is too large */
export async function fetchFolder(ends: Ends, { name }: MirroredFolder): Promise<void> {
  const { store, lake } = ends;
  const objects = await store.list(`${name}/`);
  const large = objects.find(({ bytes }) => bytes > SMALL_BYTES);
  if (large !== undefined) {
    const what = `${store.url}: ${quotePath(large.key)} has ${large.bytes} bytes; the limit is ${SMALL_BYTES}`;
    throw new PricelakeError('lake_invalid', what, {
      hint: `Delete ${name}/ from the remote. The next run will write it again.`,
    });
  }
  await rm(innerPath(lake, name), { recursive: true, force: true });
  await fetchAll(ends, objects);
  // The files get the times that the remote has for them, because the next upload compares the times.
  for (const { key, writtenAt } of objects) await utimes(innerPath(lake, key), writtenAt, writtenAt);
}
