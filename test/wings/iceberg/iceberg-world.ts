import { readFileSync } from 'node:fs';
import path from 'node:path';
import { expect } from 'vitest';
import { openLake } from '../../../src/lake/lake.js';
import { readTable, readTableAt } from '../../../src/lake/read.js';
import { TABLE_NAMES, type TableName } from '../../../src/tables/table.js';
import { syncWithWings } from '../../../src/wings/index.js';
import { openWorld, testIo, type World } from '../../run/world.js';
import { readFiles, readMetadata } from './read-metadata.js';

const HOUR_MS = 3_600_000;

export interface IcebergWorld {
  world: World;
  /** Warnings of the last run. */
  readonly warnings: readonly unknown[];
  folderOf(table: TableName): string;
  move(): Promise<void>;
  sync(): Promise<void>;
  /** A run whose process ends before the metadata is written. */
  syncAlone(): Promise<void>;
  /** Expects that each snapshot lists exactly the files of its version, and that the newest one is the version that Delta readers see. */
  expectSame(): Promise<void>;
}

/** A world whose lake has Iceberg metadata and keeps superseded files for a day. */
export async function openIcebergWorld(): Promise<IcebergWorld> {
  const world = await openWorld({ items: 150, sites: 3, pastDays: 2 });
  world.pipeline.lake.retention = 24 * HOUR_MS;
  world.pipeline.lake.iceberg = true;
  let warnings: unknown[] = [];
  const io = {
    ...testIo,
    now: () => new Date(Date.now() + world.clock.days * 24 * HOUR_MS),
    log: (level: string, event: string, facts?: object) =>
      void (level === 'warn' && warnings.push({ event, ...facts })),
  };
  const folderOf = (table: TableName) => path.join(world.lakePath, 'iceberg', table, 'metadata');
  const sync = async () => {
    warnings = [];
    await syncWithWings(world.pipeline, io);
  };
  return {
    world,
    get warnings() {
      return warnings;
    },
    folderOf,
    sync,
    move: async () => void (await world.sandbox.advance({ hours: 5, changes: 20 })),
    syncAlone: async () => {
      const { iceberg } = world.pipeline.lake;
      world.pipeline.lake.iceberg = false;
      await sync();
      world.pipeline.lake.iceberg = iceberg;
    },
    expectSame: async () => {
      const lake = await openLake(world.lakePath, { create: false });
      for (const table of TABLE_NAMES) {
        const metadata = readMetadata(folderOf(table));
        const newest = await readTable(lake, table);
        expect(metadata['current-snapshot-id']).toBe(Number(newest.version) + 1);
        for (const snapshot of metadata.snapshots) {
          const { files } = await readTableAt(lake, table, BigInt(snapshot['snapshot-id'] - 1));
          const found = readFiles(snapshot, world.lakePath);
          const sizes = files.map((file) => [
            path.join(world.lakePath, table, file.path),
            file.rows,
            BigInt(file.bytes),
          ]);
          expect(found.map(({ path, rows, bytes }) => [path, rows, bytes]).sort()).toEqual(sizes.sort());
          for (const file of found) expect(readFileSync(file.path).length).toBe(Number(file.bytes));
        }
      }
    },
  };
}
