import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { openLake } from '../../src/lake/lake.js';
import { readTable } from '../../src/lake/read.js';
import { makePipeline, openWorld, readItems, type World, type WorldOptions } from '../run/world.js';
import { type S3Server, startS3, withCredentials } from './s3-server.js';

/** A service, and an S3 server that machines share. */
export interface S3World {
  s3: S3Server;
  world: World;
  /** `lake.remote` of the machines. */
  address: string;
  /** The pipeline of a machine; its lake is in a folder of the world. */
  machine(name: string, checks?: WorldOptions['checks']): ReturnType<typeof makePipeline>;
  /** Writes a pipeline file for a machine. */
  writePipeline(lakePath: string, file: string): Promise<void>;
  close(): Promise<void>;
}

export async function openS3World(options: WorldOptions): Promise<S3World> {
  const s3 = await startS3();
  const restoreEnvironment = withCredentials();
  const world = await openWorld(options);
  const address = `s3://bucket/prices?endpoint=${s3.endpoint}`;
  return {
    s3,
    world,
    address,
    machine(name, checks = options.checks) {
      const pipeline = makePipeline(world.sandbox, path.join(world.folder, name), { checks });
      return { ...pipeline, lake: { ...pipeline.lake, remote: address, retention: 3_600_000 } };
    },
    async writePipeline(lakePath, file) {
      const source = `source: { baseUrl: ${world.sandbox.baseUrl}, apiKey: "\${PRICELAKE_API_KEY}" }`;
      await writeFile(file, `name: test\n${source}\nlake: { path: ${lakePath}, remote: "${address}" }\n`);
    },
    async close() {
      restoreEnvironment();
      await world.close();
      await s3.close();
    },
  };
}

/** Items of the newest version. A plain glob would read superseded files too. */
export async function readCurrentItems(lakePath: string): Promise<string[]> {
  const { files } = await readTable(await openLake(lakePath, { create: false }), 'items');
  const items = await Promise.all(files.map((file) => readItems(lakePath, `items/${file.path}`)));
  return items.flatMap((rows) => [...rows.values()].map(String)).sort();
}

export const isDataFile = (key: string) => key.endsWith('.parquet') && !key.includes('_delta_log');
