import { link, readFile, rm } from 'node:fs/promises';
import { replaceFile, writeSynced } from '../io/durable.js';
import { hasSystemCode } from '../io/errors.js';
import { type Lake, temporaryPath } from '../tables/layout.js';

/** Replaces a file atomically and durably. Does nothing if the file already has this text. */
export async function writeDurably(lake: Lake, path: string, text: string): Promise<void> {
  const old = await readFile(path, 'utf8').catch(() => undefined);
  if (old === text) return;
  await replaceFile(path, text, temporaryPath(lake, path));
}

/** Creates a file with all its text at once, so that no reader sees an empty file. Returns false if the name exists. */
export async function createExclusively(lake: Lake, path: string, text: string): Promise<boolean> {
  const temporary = temporaryPath(lake, path);
  try {
    await writeSynced(temporary, text);
    return await linkExclusively(temporary, path);
  } finally {
    await rm(temporary, { force: true });
  }
}

/** Creates a hard link. Returns false if the name exists. link(2) is atomic on local and network file systems. */
export async function linkExclusively(from: string, to: string): Promise<boolean> {
  try {
    await link(from, to);
    return true;
  } catch (error) {
    if (hasSystemCode(error, 'EEXIST')) return false;
    throw error;
  }
}
