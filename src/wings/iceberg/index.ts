import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { parseRemoteUrl, showRemoteUrl } from '../../formats/remote-url.js';
import type { Io } from '../../io/io.js';
import { openLake } from '../../lake/lake.js';
import { lockLake } from '../../lake/lock.js';
import type { Lake } from '../../tables/layout.js';
import { TABLE_NAMES } from '../../tables/table.js';
import type { Wing } from '../wing.js';
import { HINT, ICEBERG_FOLDER } from './iceberg-schema.js';

/** Writes Iceberg metadata for the published tables, if the pipeline enables it. */
export const iceberg: Wing = {
  surround: ({ pipeline, io }, run) => withIceberg(pipeline.lake, io, run),
  mirrored: [{ name: ICEBERG_FOLDER, pointer: HINT }],
};

/** The lake's folder. If there is a pipeline file, also its settings for Iceberg readers. */
export interface IcebergSetting {
  path: string;
  iceberg?: string | boolean | undefined;
  remote?: string | undefined;
}

/**
 * Updates the Iceberg metadata before and after `work`, which writes tables. The first update drops snapshots whose
 * files may be deleted. The second update adds snapshots for new table versions. Neither update is made if the pipeline
 * disables Iceberg metadata, or if the pipeline doesn't mention it and the lake has none.
 */
export async function withIceberg<T>(lake: IcebergSetting, io: Io, work: () => Promise<T>): Promise<T> {
  if (lake.iceberg === false) return work();
  const isThere = () => existsSync(join(lake.path, ICEBERG_FOLDER));
  if (isThere()) await publishIceberg(lake, io);
  const result = await work();
  if (lake.iceberg !== undefined || isThere()) await publishIceberg(lake, io);
  return result;
}

/**
 * Writes Iceberg metadata for the newest version of every table. A failure is only logged, because the tables are
 * already published, and the next run writes the missing metadata.
 */
async function publishIceberg({ path, iceberg, remote }: IcebergSetting, io: Io): Promise<void> {
  try {
    // The Avro library takes time to load. It is loaded here, because only lakes with Iceberg metadata need it.
    const { publishTable, readAddress } = await import('./publish-table.js');
    const lake = await openLake(path, { create: false });
    const lock = await lockLake(lake, io);
    try {
      const base = findAddress(lake, iceberg, remote) ?? (await readAddress(lake)) ?? `file://${lake.root}`;
      for (const table of TABLE_NAMES) {
        lock.lost.throwIfAborted();
        await publishTable(lake, table, base.replace(/\/+$/, ''), io.now());
      }
    } finally {
      await lock.release();
    }
  } catch (error) {
    io.log('warn', 'iceberg.missed', { reason: error instanceof Error ? error.message : String(error) });
  }
}

/** Returns the address that the pipeline file sets. If it is undefined, existing metadata keeps its address. */
function findAddress({ root }: Lake, iceberg: IcebergSetting['iceberg'], remote?: string): string | undefined {
  if (iceberg !== true) return iceberg || undefined;
  const url = parseRemoteUrl(remote ?? '');
  return url === undefined ? `file://${root}` : showRemoteUrl({ ...url, endpoint: undefined });
}
