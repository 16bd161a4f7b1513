import { link, mkdtemp, rm, stat, statfs, writeFile } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { ignoreMissing } from '../../lake/layout.js';
import { formatBytes } from '../progress.js';
import type { Finding } from './doctor-finding.js';

const LEAST_BYTES = 200e6;
const FEW_BYTES = 2e9;

/** The lake's folder, or the nearest folder above it that exists. */
async function findExisting(path: string): Promise<string> {
  for (let folder = resolve(path); ; folder = dirname(folder)) {
    if ((await stat(folder).catch(ignoreMissing)) !== undefined || folder === dirname(folder)) return folder;
  }
}

/** Room for the lake: a copy needs about the size of its raw bytes and tables together. */
export async function lookAtDisk(path: string): Promise<Finding[]> {
  const { bavail, bsize } = await statfs(await findExisting(path));
  const free = bavail * bsize;
  const state = free < LEAST_BYTES ? 'failed' : free < FEW_BYTES ? 'warn' : 'ok';
  const next = state === 'ok' ? undefined : 'Free some space: copying a million listings takes about 2 GB.';
  return [{ name: 'disk', state, found: `${formatBytes(free)} free for ${path}`, next }];
}

/** Commits and locks need hard links, which some network and container file systems lack. */
export async function lookAtFileSystem(path: string): Promise<Finding[]> {
  const name = 'file system';
  const folder = await mkdtemp(join(await findExisting(path), '.pricelake-doctor-')).catch((error: Error) => error);
  if (folder instanceof Error) {
    return [
      {
        name,
        state: 'failed',
        found: `${path}: ${folder.message}`,
        next: 'Give the user of this process the right to write there.',
      },
    ];
  }
  try {
    await writeFile(join(folder, 'a'), 'x');
    await link(join(folder, 'a'), join(folder, 'b'));
    const { nlink } = await stat(join(folder, 'b'));
    if (nlink === 2) return [{ name, state: 'ok', found: 'writable, with hard links' }];
    return [{ name, state: 'failed', found: 'a hard link becomes a copy', next: 'Keep the lake on a local disk.' }];
  } catch (error) {
    const found = `no hard links: ${(error as Error).message}`;
    return [{ name, state: 'failed', found, next: 'Keep the lake on a local disk.' }];
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
