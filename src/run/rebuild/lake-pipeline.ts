import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Pipeline } from '../../config/pipeline.js';
import { pipelineSchema } from '../../config/pipeline-schema.js';
import { ignoreMissing, PricelakeError } from '../../io/errors.js';
import { openDamagedLake } from '../../lake/damaged-lake.js';
import { parseAction } from '../../lake/delta-actions.js';
import { readTable } from '../../lake/read.js';
import { type Lake, tablePath } from '../../tables/layout.js';
import type { TableName, TableState } from '../../tables/table.js';

/**
 * Builds a pipeline for commands that need neither the service nor a pipeline file. It has the default settings, the
 * lake's partitioning, and the settings that the lake has saved.
 * @throws PricelakeError `lake_invalid` if there is no lake
 */
export async function describeLakePipeline(lakePath: string): Promise<Pipeline> {
  const { lake } = await openDamagedLake(lakePath);
  const partitionBy = await readPartitionColumns(lake, 'items');
  const tables = partitionBy === undefined ? {} : { items: { partitionBy } };
  // Enables closed days only if the old lake has them.
  const days = await tryTable(lake, 'price_spread_daily');
  const hasDays = days === undefined || days.applied.day > 0n;
  const analysis = hasDays ? {} : { daily: 0 };
  const source = { baseUrl: 'http://no.service.invalid', apiKey: 'none' };
  const values = pipelineSchema.parse({ source, lake: { path: lakePath, tables }, analysis });
  return { ...values, file: lakePath, keepsDeclared: true, source: { ...values.source, apiKey: source.apiKey } };
}

/** Reads a table, or returns undefined if its log is damaged. */
function tryTable(lake: Lake, table: TableName): Promise<TableState | undefined> {
  return readTable(lake, table).catch((error: unknown) => {
    if (error instanceof PricelakeError) return undefined;
    throw error;
  });
}

/** Reads the partition columns from the newest readable log entry, or returns undefined if there is none. */
async function readPartitionColumns(lake: Lake, table: TableName): Promise<string[] | undefined> {
  const folder = tablePath(lake, table, '_delta_log');
  const names = ((await readdir(folder).catch(ignoreMissing)) ?? []).filter((name) => name.endsWith('.json')).sort();
  for (const name of names.reverse()) {
    const lines = (await readFile(join(folder, name), 'utf8')).split('\n');
    for (const line of lines.filter((text) => text.startsWith('{"metaData"'))) {
      try {
        return parseAction(line).metaData?.partitionColumns;
      } catch {} // This entry is damaged, but an older one may be intact.
    }
  }
  const [file] = (await tryTable(lake, table))?.files ?? [];
  return file === undefined ? undefined : Object.keys(file.partitionValues);
}
