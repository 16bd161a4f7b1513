import { readdir } from 'node:fs/promises';
import type { Pipeline } from '../../config/pipeline-file.js';
import { PricelakeError } from '../../errors/errors.js';
import { openLake } from '../../lake/lake.js';
import { ignoreMissing } from '../../lake/layout.js';
import { readLock } from '../../lake/lock.js';
import { readPartial } from '../../lake/partial.js';
import { readPointer } from '../../lake/pointer.js';
import { readTable } from '../../lake/read.js';
import { inspectActivity } from '../../run/inspect-runs.js';
import { TABLE_NAMES } from '../../tables/table.js';
import type { CommandContext } from '../run-command.js';
import type { Finding } from './doctor-finding.js';

/** The logs of every table can be read, and what waits is named. Proofs are left to `verify`. */
export async function lookAtLake(path: string, { io }: CommandContext): Promise<Finding[]> {
  const name = 'lake';
  const lake = await openLake(path, { create: false }).catch((error: unknown) => {
    if (error instanceof PricelakeError && error.code === 'lake_invalid') return error;
    throw error;
  });
  const missing = /there is no lake here$/u;
  if (lake instanceof PricelakeError) {
    if (!missing.test(lake.message)) throw lake;
    const [other] = (await readdir(path).catch(ignoreMissing)) ?? [];
    if (other !== undefined) {
      const next = 'Name an empty folder in lake.path, or one that does not exist.';
      return [{ name, state: 'failed', found: `${path} is not a lake; it holds ${other}`, next }];
    }
    return [{ name, state: 'ok', found: `nothing at ${path} yet; the first sync makes it` }];
  }
  for (const table of TABLE_NAMES) await readTable(lake, table);
  const pointer = await readPointer(lake);
  const { open } = await inspectActivity(lake, await readLock(lake, io));
  const published =
    pointer === undefined ? 'nothing published' : `run ${pointer.runNumber} of ${pointer.at.toISOString()}`;
  if (open?.state === 'held') {
    const found = `${published}; run ${open.runNumber} is held by ${open.checks.join(', ')}`;
    return [{ name, state: 'warn', found, next: '`pricelake help recover` says what to do about a held batch.' }];
  }
  const running = open === undefined ? '' : `; run ${open.runNumber} is ${open.state}`;
  const partial = await readPartial(lake);
  const elsewhere = partial === undefined ? '' : `; files that no run has needed here are on ${partial.remote} only`;
  return [{ name, state: 'ok', found: published + running + elsewhere }];
}

/** The bucket answers; a run that holds it is named. */
export async function lookAtRemote({ lake: { remote } }: Pipeline, { io }: CommandContext): Promise<Finding[]> {
  if (remote === undefined) return [];
  const [{ parseRemoteUrl }, { openS3Store }, { readHolder }] = await Promise.all([
    import('../../remote/remote-url.js'),
    import('../../remote/s3-store.js'),
    import('../../remote/lease.js'),
  ]);
  const url = parseRemoteUrl(remote);
  if (url === undefined) return [];
  const store = await openS3Store(url, io);
  try {
    const holder = await readHolder(store);
    const by =
      holder === undefined ? '' : `; a run on ${holder.host} ${holder.alive ? 'holds it' : 'died while it held it'}`;
    return [{ name: 'remote', state: 'ok', found: `${remote} answers${by}` }];
  } finally {
    store.close();
  }
}
