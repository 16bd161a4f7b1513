import { randomUUID } from 'node:crypto';
import { appendFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { createDispatcher } from '../../api/dispatcher.js';
import { PRICELAKE_VERSION } from '../../io/package-path.js';
import { openLake } from '../../lake/lake.js';
import { readPointer } from '../../lake/pointer.js';
import { loadTableSchema } from '../../tables/schemas.js';
import { TABLE_NAMES, type TableName } from '../../tables/table.js';
import { messageOf } from '../exit-codes.js';
import { toJsonText } from '../json-text.js';
import type { CliIo } from '../terminal-io.js';
import { COLUMN_SOURCES } from './column-sources.js';
import type { RunObserver, WatchedPipeline, WatchedRun } from './watch-run.js';

/** The maximum time, in milliseconds, that a run waits for a lineage catalog to respond. */
const TIMEOUT_MS = 10_000;
const ANSWER_BYTES = 64 * 1024;

/**
 * Writes OpenLineage events to a file, one per line, or posts them to a URL with OPENLINEAGE_API_KEY as the bearer
 * token. A failure is only logged, because lineage must not fail a run.
 */
export function openLineage(target: string, io: CliIo, env: NodeJS.ProcessEnv): RunObserver {
  const id = randomUUID();
  const key = env.OPENLINEAGE_API_KEY;
  if (key !== undefined) io.protectSecret(key);
  const send = async (event: LineageEvent) => {
    try {
      await deliver(target, io.redact(toJsonText(event)), key);
    } catch (error) {
      io.log('warn', 'lineage.failed', { type: event.eventType, reason: messageOf(error) });
    }
  };
  return {
    begin: (pipeline, at) => send(writeEvent('START', id, pipeline, at)),
    end: async (run) => {
      if (run.pipeline === undefined) return;
      await send(await describeEnd(id, run.pipeline, run));
    },
  };
}

async function deliver(target: string, text: string, key: string | undefined): Promise<void> {
  if (!/^https?:\/\//.test(target)) return appendFile(target, `${text}\n`);
  const headers = {
    'content-type': 'application/json',
    ...(key === undefined ? {} : { authorization: `Bearer ${key}` }),
  };
  const { origin, pathname, search } = new URL(target);
  const dispatcher = createDispatcher(origin, {});
  const signal = AbortSignal.timeout(TIMEOUT_MS);
  try {
    const path = pathname + search;
    const { statusCode, body } = await dispatcher.request({
      origin,
      path,
      method: 'POST',
      headers,
      body: text,
      signal,
    });
    await body.dump({ limit: ANSWER_BYTES, signal }).catch(() => {}); // only the status matters
    if (statusCode < 200 || statusCode > 299) throw new Error(`the catalog returned ${statusCode}`);
  } finally {
    await dispatcher.destroy();
  }
}

type LineageEvent = Record<string, unknown>;

const SPEC = 'https://openlineage.io/spec';
const PRODUCER = `pkg:npm/pricelake@${PRICELAKE_VERSION}`;

function facet(version: string, name: string, members: Record<string, unknown>): Record<string, unknown> {
  return { _producer: PRODUCER, _schemaURL: `${SPEC}/facets/${version}/${name}.json#/$defs/${name}`, ...members };
}

/**
 * Builds the event for the end of a run. A `COMPLETE` event contains the schemas, sizes and column sources of the
 * tables, and the results of the checks. A `FAIL` event contains the error message.
 */
async function describeEnd(
  id: string,
  pipeline: WatchedPipeline,
  { endedAt, exitCode, report, error }: WatchedRun,
): Promise<LineageEvent> {
  if (exitCode !== 0) {
    const failure = { message: messageOf(error), programmingLanguage: 'TypeScript' };
    const facets = { errorMessage: facet('1-0-1', 'ErrorMessageRunFacet', failure) };
    return writeEvent('FAIL', id, pipeline, endedAt, facets);
  }
  const assertions = (report?.checks ?? []).map(({ name, severity, violations }) => ({
    assertion: 'custom_sql',
    name,
    success: violations === 0n,
    severity,
    actual: String(violations),
    expected: '0',
  }));
  const checked = {
    ...nameLake(pipeline),
    inputFacets: { dataQualityAssertions: facet('1-1-0', 'DataQualityAssertionsDatasetFacet', { assertions }) },
  };
  return {
    ...writeEvent('COMPLETE', id, pipeline, endedAt),
    inputs: [describeService(pipeline), ...(assertions.length === 0 ? [] : [checked])],
    outputs: report?.published === true ? await describeTables(pipeline) : [],
  };
}

function writeEvent(eventType: string, id: string, pipeline: WatchedPipeline, at: Date, facets: object = {}) {
  return {
    eventType,
    eventTime: at.toISOString(),
    run: { runId: id, facets },
    job: { namespace: 'pricelake', name: pipeline.name },
    producer: PRODUCER,
    schemaURL: `${SPEC}/2-0-2/OpenLineage.json#/$defs/RunEvent`,
    inputs: [describeService(pipeline)],
    outputs: [],
  };
}

/** Identifies the service by the origin of its address, because the rest of the address may be private. */
function describeService({ source }: WatchedPipeline) {
  return { namespace: new URL(source.baseUrl).origin, name: 'price-and-product-data' };
}

function nameLake({ lake }: WatchedPipeline, table = '') {
  return { namespace: 'file', name: resolve(lake.path, table) };
}

async function describeTables(pipeline: WatchedPipeline): Promise<Record<string, unknown>[]> {
  const pointer = await readPointer(await openLake(pipeline.lake.path, { create: false }));
  return TABLE_NAMES.flatMap((table) => {
    const state = pointer?.tables[table];
    if (state === undefined) return [];
    const size = state.files.reduce((sum, { bytes }) => sum + bytes, 0);
    const statistics = { rowCount: Number(state.rows), size, fileCount: state.files.length };
    return [
      {
        ...nameLake(pipeline, table),
        facets: {
          schema: facet('1-2-0', 'SchemaDatasetFacet', {
            fields: loadTableSchema(table).columns.map(({ name, type, description }) => ({ name, type, description })),
          }),
          ...describeColumns(pipeline, table),
        },
        outputFacets: { outputStatistics: facet('1-0-2', 'OutputStatisticsOutputDatasetFacet', statistics) },
      },
    ];
  });
}

function describeColumns(pipeline: WatchedPipeline, table: TableName): Record<string, unknown> {
  const sources = COLUMN_SOURCES[table];
  if (sources === undefined) return {};
  const fields = Object.entries(sources).map(([column, from]) => [
    column,
    { inputFields: from.map((source) => locate(pipeline, source)) },
  ]);
  return { columnLineage: facet('1-2-0', 'ColumnLineageDatasetFacet', { fields: Object.fromEntries(fields) }) };
}

function locate(pipeline: WatchedPipeline, source: string) {
  if (source.startsWith('api:')) return { ...describeService(pipeline), field: source.slice('api:'.length) };
  const [table, field] = source.split('.');
  return { ...nameLake(pipeline, table), field };
}
