import { readdir, readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { parse } from 'yaml';
import { COLUMN_SOURCES } from '../../src/cli/observers/column-sources.js';
import { openLineage } from '../../src/cli/observers/lineage.js';
import { openMetricsFile, writePrometheusText } from '../../src/cli/observers/metrics.js';
import { type RunObserver, watchRun } from '../../src/cli/observers/watch-run.js';
import { pipelineSchema } from '../../src/config/pipeline-schema.js';
import { PricelakeError } from '../../src/io/errors.js';
import { packagePath } from '../../src/io/package-path.js';
import type { RunReport } from '../../src/run/sync.js';
import { loadTableSchema } from '../../src/tables/schemas.js';
import { TABLE_NAMES } from '../../src/tables/table.js';
import { makeFolder } from '../lake/fixture.js';
import { publishLake } from './lake-fixture.js';
import { openContext } from './open-context.js';

const lakePath = await publishLake();

const parsed = pipelineSchema.parse({
  source: { baseUrl: 'https://x.example', apiKey: 'key' },
  lake: { path: lakePath },
});
const source = { ...parsed.source, baseUrl: 'https://user@api.example/secret/path', apiKey: 'secret' };
const pipeline = { ...parsed, file: 'prices.yaml', name: 'prices "a\\b"', source };

const REPORT = {
  published: true,
  resumed: false,
  row: {
    received: 9007199254740993n,
    written: 5n,
    rejected: 1n,
    deduplicated: 2n,
    calls: 7n,
    items: 4n,
    stale_items: null,
    pricelake_version: '0.1.0',
  },
  checks: [
    { name: 'a', severity: 'gate', violations: 0n, waived: false },
    { name: 'b', severity: 'warn', violations: 3n, waived: false },
  ],
} as unknown as RunReport;

/** Watches a run that ends as `outcome` says. */
async function watch(observers: RunObserver[], outcome: RunReport | Error, context = openContext()): Promise<unknown> {
  return watchRun(observers, context.io, context.signal, async (run) => {
    await run.begin(pipeline);
    run.onStep('land', 1.5);
    run.onStep('land', 0.5);
    if (outcome instanceof Error) throw outcome;
    return outcome;
  }).catch((error: unknown) => error);
}

/** Watches a run with metrics, and returns their text and their samples: `name{labels}` → value. */
async function measure(outcome: RunReport | Error) {
  const file = path.join(await makeFolder('metrics'), 'prices.prom');
  const observer = await openMetricsFile(file);
  const result = await watch([observer], outcome);
  const text = await readFile(file, 'utf8');
  const lines = text.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
  const samples = lines.map((line) => {
    const [, name = '', value = ''] = /^(.*) (\S+)$/.exec(line) ?? [];
    return [name.replace(/pipeline="(?:[^"\\]|\\.)*",?/, '').replace('{}', ''), value] as const;
  });
  return { file, observer, result, text, samples: new Map(samples) };
}

describe('metrics', () => {
  test('of a successful run contain its rows, checks and steps, and the state of the lake', async () => {
    const { file, text, samples } = await measure(REPORT);
    const expected: Record<string, string> = {
      pricelake_run_success: '1',
      'pricelake_run_rows{fate="received"}': '9007199254740993',
      'pricelake_run_rows{fate="rejected"}': '1',
      'pricelake_checks{severity="warn",result="failed"}': '1',
      'pricelake_checks{severity="gate",result="passed"}': '1',
      'pricelake_checks{severity="error",result="failed"}': '0',
      'pricelake_step_duration_seconds{step="land"}': '2',
      pricelake_last_success_timestamp_seconds: String(Date.parse('2026-11-20T09:00:00Z') / 1000),
      pricelake_items: '4',
    };
    expect(Object.fromEntries(samples)).toMatchObject(expected);
    expect(text).toContain(String.raw`pricelake_run_success{pipeline="prices \"a\\b\""} 1`);
    expect(await readdir(path.dirname(file))).toEqual(['prices.prom']);
  });

  test('of a failed run say so and keep the time of the last success; a run on a locked lake writes none', async () => {
    const refused = new PricelakeError('plan_refuses', 'no');
    const { file, observer, result, text, samples } = await measure(refused);
    expect(result).toBe(refused);
    expect([samples.get('pricelake_run_success'), samples.get('pricelake_run_exit_code')]).toEqual(['0', '4']);
    expect(samples.has('pricelake_last_success_timestamp_seconds')).toBe(true);
    expect([...samples.keys()].some((name) => name.startsWith('pricelake_run_rows'))).toBe(false);
    await watch([observer], new PricelakeError('lake_locked', 'held'));
    expect(await readFile(file, 'utf8')).toBe(text);
    await expect(openMetricsFile(path.join(file, 'none', 'x.prom'))).rejects.toMatchObject({ code: 'usage' });
  });

  test('include every name that the shipped alerts use', async () => {
    const { samples } = await measure(REPORT);
    const there = new Set([...samples.keys()].map((name) => name.replace(/\{.*/, '')));
    const alerts = parse(await readFile(packagePath('pipelines/deploy/alerts.yaml'), 'utf8')) as {
      groups: { rules: { expr: string }[] }[];
    };
    const asked = alerts.groups.flatMap(({ rules }) => rules.flatMap(({ expr }) => expr.match(/pricelake_\w+/g) ?? []));
    expect(asked.length).toBeGreaterThan(6);
    // These are absent if the lake isn't caught up, or if no run has read the plan.
    const optional = ['pricelake_current_timestamp_seconds', 'pricelake_left'];
    expect(asked.filter((name) => !there.has(name) && !optional.includes(name))).toEqual([]);
  });

  test("are written in Prometheus's text format", () => {
    const metric = { name: 'm', help: 'a\\b\nc', samples: [{ labels: { l: 'x\n"\\' }, value: true }, { value: 0.5 }] };
    expect(writePrometheusText([metric], {})).toBe(
      '# HELP m a\\\\b\\nc\n# TYPE m gauge\nm{l="x\\n\\"\\\\"} 1\nm 0.5\n',
    );
  });
});

describe('lineage', () => {
  interface Event {
    eventType: string;
    run: { runId: string; facets: Record<string, { message: string }> };
    inputs: object[];
    outputs: { name: string }[];
  }

  test('of a successful run has a START and a COMPLETE event with tables, columns and checks', async () => {
    const file = path.join(await makeFolder('lineage'), 'events.ndjson');
    const context = openContext();
    await watch([openLineage(file, context.io, {})], REPORT, context);
    const text = await readFile(file, 'utf8');
    const [start, complete] = text
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as Event);
    const service = { namespace: 'https://api.example', name: 'price-and-product-data' };
    expect(start).toMatchObject({ eventType: 'START', inputs: [service] });
    const assertions = REPORT.checks.map(({ name }) => expect.objectContaining({ name }));
    const inputs = [service, { inputFacets: { dataQualityAssertions: { assertions } } }];
    expect(complete).toMatchObject({ eventType: 'COMPLETE', run: { runId: start?.run.runId }, inputs });
    expect(complete?.outputs.find(({ name }) => name === `${lakePath}/items`)).toMatchObject({
      outputFacets: { outputStatistics: { rowCount: 4 } },
      facets: {
        schema: { fields: loadTableSchema('items').columns.map(({ name }) => ({ name })) },
        columnLineage: { fields: { price: { inputFields: [{ ...service, field: 'Item.price' }] } } },
      },
    });
    expect(text).not.toContain('secret');
  });

  test('of a failed run has a FAIL event with its message, and a refusing catalog causes a warning', async () => {
    const bodies: string[] = [];
    const server = createServer((request, response) => {
      request.on('data', (chunk) => bodies.push(String(chunk)));
      request.on('end', () => response.writeHead(bodies.length > 1 ? 500 : 201).end(request.headers.authorization));
    }).listen(0, '127.0.0.1');
    onTestFinished(() => void server.close());
    await new Promise((resolve) => server.once('listening', resolve));
    const context = openContext();
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/api/v1/lineage`;
    await watch(
      [openLineage(url, context.io, { OPENLINEAGE_API_KEY: 'key-1234' })],
      new Error('broken key-1234'),
      context,
    );
    const events = bodies.map((body) => JSON.parse(body) as Event);
    expect(events.map(({ eventType }) => eventType)).toEqual(['START', 'FAIL']);
    expect(events[1]?.run.facets.errorMessage?.message).not.toContain('key-1234');
    expect(context.stderr.text).toContain('lineage.failed');
  });

  test('refers only to existing columns and sources', () => {
    for (const [table, sources] of Object.entries(COLUMN_SOURCES)) {
      const names = loadTableSchema(table as keyof typeof COLUMN_SOURCES).columns.map(({ name }) => name);
      expect(
        Object.keys(sources).filter((name) => !names.includes(name)),
        table,
      ).toEqual([]);
      for (const source of Object.values(sources).flat()) {
        const [of = '', column = ''] = source.split('.');
        if (of.startsWith('api:')) continue;
        const from = TABLE_NAMES.find((name) => name === of);
        expect(from && loadTableSchema(from).columns.some(({ name }) => name === column), source).toBe(true);
      }
    }
  });
});
