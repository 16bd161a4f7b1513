import { openLake } from '../lake/lake.js';
import { readTable } from '../lake/read.js';
import { TXN_DAY } from '../model.js';
import type { Pipeline } from './pipeline-file.js';
import { pipelineSchema } from './pipeline-schema.js';

/**
 * The pipeline of work on a lake that needs no service and no file: the defaults, and the partitioning that the lake has.
 * @throws PricelakeError `lake_invalid` when there is no lake.
 */
export async function describeLakePipeline(lakePath: string): Promise<Pipeline> {
  const lake = await openLake(lakePath, { create: false });
  const [file] = (await readTable(lake, 'items')).files;
  const tables = file === undefined ? {} : { items: { partitionBy: Object.keys(file.partitionValues) } };
  // Closed days are kept only where the lake keeps them.
  const hasDays = ((await readTable(lake, 'price_spread_daily')).txn[TXN_DAY] ?? 0n) > 0n;
  const analysis = hasDays ? {} : { daily: 0 };
  const source = { baseUrl: 'http://no.service.invalid', apiKey: 'none' };
  const values = pipelineSchema.parse({ source, lake: { path: lakePath, tables }, analysis });
  return { ...values, file: lakePath, source: { ...values.source, apiKey: source.apiKey } };
}
