import { mkdtemp, readdir, readlink, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { onTestFinished } from 'vitest';

/** An empty folder that is removed after the test. */
export async function makeFolder(): Promise<string> {
  const folder = await mkdtemp(path.join(tmpdir(), 'pricelake-landing-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

/** Names of the files in `folder` that this process has open, according to Linux. */
export async function listOpenFiles(folder: string): Promise<string[]> {
  const links = (await readdir('/proc/self/fd')).map((fd) => readlink(`/proc/self/fd/${fd}`).catch(() => ''));
  return (await Promise.all(links)).filter((file) => path.dirname(file) === folder).map((file) => path.basename(file));
}
