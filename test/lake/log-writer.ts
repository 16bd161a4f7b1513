/** Log entries written by hand: no file that they name has to exist. */
import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { writeDeltaSchema } from '../../src/lake/column-difference.js';
import { logPath } from '../../src/lake/delta-log.js';
import { SEAL, sealEntry } from '../../src/lake/log-seal.js';
import type { Lake } from '../../src/tables/layout.js';
import { loadTableSchema } from '../../src/tables/schemas.js';
import { makeFolder } from './fixture.js';

export type LogAction = Record<string, unknown>;

export const PROTOCOL: LogAction = { protocol: { minReaderVersion: 1, minWriterVersion: 2 } };
export const META_DATA = {
  id: 'm',
  format: { provider: 'parquet', options: {} },
  schemaString: writeDeltaSchema(loadTableSchema('items')),
  partitionColumns: ['site_id'],
  configuration: {},
};
export const CREATED: LogAction[] = [PROTOCOL, { metaData: META_DATA }];
export const OURS = { engineInfo: 'pricelake/0.1.0' };

export const add = (name: string, numRecords = 1): LogAction => ({
  add: {
    path: name,
    partitionValues: {},
    size: 10,
    modificationTime: 1,
    dataChange: true,
    stats: `{"numRecords":${numRecords}}`,
  },
});
export const remove = (name: string, deletionTimestamp?: number): LogAction => ({
  remove: { path: name, deletionTimestamp, dataChange: true },
});
export const txn = (appId: string, version: number, lastUpdated?: number): LogAction => ({
  txn: { appId, version, lastUpdated },
});

/** The text of an entry that was edited, as pricelake would have written it. */
export function reseal(text: string): string {
  const [info = '', ...lines] = text.split('\n');
  const { [SEAL]: _seal, ...commitInfo } = JSON.parse(info).commitInfo;
  return sealEntry(commitInfo, lines.slice(0, -1));
}

/** A lake that consists only of a folder. */
export async function makeBareLake(): Promise<Lake> {
  const lake = { root: await makeFolder() };
  await mkdir(path.join(lake.root, '_pricelake', 'tmp'), { recursive: true });
  return lake;
}

/** Writes an entry of `items` as pricelake writes it, or as another program does. */
export async function writeEntry(
  lake: Lake,
  version: bigint,
  actions: LogAction[],
  commitInfo: LogAction = OURS,
): Promise<string> {
  const file = logPath(lake, 'items', version, 'json');
  await mkdir(path.dirname(file), { recursive: true });
  const lines = actions.map((action) => JSON.stringify(action));
  const isOurs = commitInfo.engineInfo === OURS.engineInfo;
  await writeFile(
    file,
    isOurs ? sealEntry(commitInfo, lines) : [JSON.stringify({ commitInfo }), ...lines, ''].join('\n'),
  );
  return file;
}
