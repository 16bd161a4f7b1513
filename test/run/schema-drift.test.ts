import { afterAll, expect, test } from 'vitest';
import { readPipeline } from '../../src/config/pipeline-file.js';
import { packagePath } from '../../src/io/package-path.js';
import type { Drift } from '../../src/wings/drift/list-drift.js';
import { failure } from '../failure.js';
import { changeText, openWorld, readItems, readLake, readTruth } from './world.js';

const world = await openWorld({ items: 80, sites: 2, history: 'none' });
afterAll(() => world.close());

const DRIFT = ['export:unknown=energy', 'datasets:unknown=color', 'changes:unknown=why', 'changes:missing=price'];

const readDrift = async () =>
  JSON.parse(
    (await readLake(world.lakePath, (g) => `SELECT schema_drift FROM ${g('runs')} ORDER BY run_number DESC`))[0]?.[0] ??
      '',
  ) as Drift[];

test('a batch held for drift is published without a call once drift is allowed, and the ledger records the drift', async () => {
  world.sandbox.armFaults(DRIFT);
  world.pipeline.checks = { schema_drift: { severity: 'gate' } };
  const error = await failure(world.sync());
  expect(error).toMatchObject({ code: 'gate_failed', message: expect.stringContaining('schema_drift (rows: 3)') });
  expect(JSON.stringify(error.facts)).toContain('energy');
  world.requests.length = 0;
  world.pipeline.checks = {};
  const { checks } = await world.sync();
  expect(world.requests).toEqual([]);
  expect(checks.find(({ name }) => name === 'schema_drift')).toMatchObject({ severity: 'warn', violations: 3n });
  const items = (await world.sandbox.dump()).items.length;
  expect(await readDrift()).toMatchObject([
    { answer: '/export', finding: 'unknown', field: 'energy', rows: items, looked_at: items, sample: '{"is":["new"]}' },
    { answer: '/changes', finding: 'unknown', field: 'why' },
    { answer: '/datasets', finding: 'unknown', field: 'color' },
  ]);
});

test('changes and their items are also checked, and a run without drift records none', async () => {
  await world.sandbox.advance({ hours: 2, changes: 30 });
  const { row, checks } = await world.sync();
  expect(row.mode).toBe('feed');
  expect(checks.find(({ name }) => name === 'schema_drift')).toMatchObject({ violations: 3n });
  expect(await readDrift()).toMatchObject([
    { answer: '/changes', finding: 'unknown', field: 'why', rows: 30, looked_at: 30 },
    { answer: '/changes', finding: 'missing', field: 'price', described: 'number|null' },
    { answer: '/datasets' },
  ]);
  world.sandbox.armFaults([]);
  await world.sandbox.advance({ hours: 2, changes: 5 });
  await world.sync();
  expect(await readDrift()).toEqual([]);
});

test('if the check is off, no drift is recorded, and unknown fields are still kept', async () => {
  world.renew();
  world.sandbox.armFaults(DRIFT.slice(0, 2));
  world.pipeline.checks = { schema_drift: { severity: 'off' } };
  const { checks } = await world.sync();
  expect(checks.map(({ name }) => name)).not.toContain('schema_drift');
  expect(await readDrift()).toEqual([]);
  expect([...(await readItems(world.lakePath)).keys()].sort()).toEqual(
    [...(await readTruth(world.sandbox)).keys()].sort(),
  );
});

test('checks.schemaDrift in the pipeline file sets the severity of the check', async () => {
  const env = { PRICELAKE_BASE_URL: 'http://localhost', PRICELAKE_API_KEY: 'key' };
  const { checks } = await readPipeline(packagePath('pipelines/prices.yaml'), env);
  expect(checks).toEqual({ schema_drift: { severity: 'warn' } });
});

test("an undocumented plan status is recorded as drift, and doesn't stop a run", async () => {
  world.intercept = changeText(/plan$/, (text) => JSON.stringify({ ...JSON.parse(text), status: 'PAUSED' }));
  world.sandbox.armFaults([]);
  world.pipeline.checks = {};
  await world.sandbox.advance({ hours: 2, changes: 5 });
  const { published } = await world.sync();
  expect(published).toBe(true);
  expect(await readDrift()).toEqual([
    expect.objectContaining({ answer: '/plan', finding: 'value', field: 'status', sample: '"PAUSED"' }),
  ]);
});
