// biome-ignore-all lint/suspicious/noTemplateCurlyInString: variables of pipeline files look like this

import { writeFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import path from 'node:path';
import { afterAll, afterEach, expect, test, vi } from 'vitest';
import { showStatus } from '../../src/cli/actions/show-status.js';
import { toJsonText } from '../../src/cli/json-text.js';
import { renameMembers } from '../../src/cli/member-names.js';
import { openMemory } from '../../src/journal/memory.js';
import { openLake } from '../../src/lake/lake.js';
import { lockLake } from '../../src/lake/lock.js';
import { openExportMemory } from '../../src/plan/broken-exports.js';
import { syncWithWings } from '../../src/wings/index.js';
import { createFakeIo } from '../api/fake-io.js';
import { openWorld, testIo } from '../run/world.js';
import { act } from './open-context.js';

const world = await openWorld({ items: 40, sites: 2, history: 'none' });
afterAll(() => world.close());
afterEach(() => vi.unstubAllEnvs());

async function status(request: Parameters<typeof showStatus>[0] = {}) {
  world.requests.length = 0;
  const { text, report } = await act(showStatus, { lake: world.lakePath, ...request });
  return { text, json: JSON.parse(toJsonText(renameMembers(report))) as Record<string, unknown> };
}

test('status shows what holds a batch, what has landed and what the plan has left, without a call', async () => {
  world.pipeline.checks = { rejects_few: { severity: 'gate', parameters: { share: -1 } } };
  await expect(world.sync()).rejects.toMatchObject({ code: 'gate_failed' });
  const { text, json } = await status();
  expect(world.requests).toEqual([]);
  expect(text).toMatch(/: nothing published yet\n/);
  expect(text).toMatch(
    /^run 1 \(000001-\S+\) is held by rejects_few, landed 40 export rows, 1 change, 0 items in \d+ calls; change `checks` in /m,
  );
  expect(text).toMatch(
    /^budget: [\d,]+ of [\d,]+ calls left, .* export rows (left|unlimited), until 20\d\d-\S+ \(plan \S.*, as of 20/m,
  );
  expect(text).toMatch(/^on disk: tables 0 B, raw bytes \d+\.\d kB$/m);
  expect(text).not.toMatch(/lock:|feed:/);
  expect(json).toMatchObject({
    published: false,
    open: { state: 'held', checks: ['rejects_few'], tries: 1, landed: { export_rows: 40 } },
    budget: { calls: { rule: 'budget.calls' } },
  });
});

test('status shows how often an export was interrupted, what it cost, and when it is retried', async () => {
  const memory = openExportMemory(
    await openMemory(await openLake(world.lakePath, { create: false }), createFakeIo()),
    createFakeIo(),
    'ndjson',
  );
  for (let run = 0; run < 3; run++) await memory.note('all', { rows: 40n, reason: 'the connection closed early' });
  const { text, json } = await status();
  expect(text).toMatch(
    /^export all was interrupted in 3 runs, last at 2026-11-20T12:00:00.000Z \(120 rows .*\); .* from 2026-11-20T14:00:00.000Z$/m,
  );
  expect(json.broken_exports).toMatchObject([
    { name: 'all', runs: 3, rows: 120, retry_at: '2026-11-20T14:00:00.000Z' },
  ]);
  await memory.forget('all');
  expect((await status()).text).not.toContain('was interrupted in');
});

test('status shows who holds the lock, and whether that process is alive', async () => {
  const lock = await lockLake(await openLake(world.lakePath, { create: false }), testIo);
  try {
    const { text, json } = await status();
    expect(text).toContain(`lock: process ${process.pid} on ${hostname()} since `);
    expect(text).toMatch(/^run 1 \(000001-\S+\) is running, landed/m);
    expect(json).toMatchObject({ lock: { pid: process.pid, alive: true }, open: { state: 'running' } });
  } finally {
    await lock.release();
  }
});

test("status --online shows how far the lake is behind the feed, if the service's address is known", async () => {
  await syncWithWings(world.pipeline, testIo, undefined, { publishHeld: true });
  vi.stubEnv('PRICELAKE_BASE_URL', world.sandbox.baseUrl);
  vi.stubEnv('PRICELAKE_API_KEY', world.sandbox.keys.live);
  const before = await status({ online: true });
  expect(world.requests).toEqual(['/plan', '/changes/recent?limit=1']);
  expect(before.text).toMatch(/^feed: newest change \d+, observed 20\S+; the lake contains it$/m);
  expect(before.json).toMatchObject({ published: true, lag: { is_behind: false, seconds: 0 } });
  expect(before.json.open).toBeUndefined();
  expect(before.text).toContain('\npublished with sync --publish-held although held by rejects_few\n');
  expect(before.text).not.toContain('let_through');
  expect(before.json.checks).toContainEqual(expect.objectContaining({ name: 'rejects_few', let_through: true }));

  await world.sandbox.advance({ hours: 1, changes: 10 });
  const file = path.join(world.folder, 'prices.yaml');
  const source = 'source:\n  baseUrl: ${PRICELAKE_BASE_URL}\n  apiKey: ${PRICELAKE_API_KEY}\n';
  await writeFile(file, `${source}lake:\n  path: ${world.lakePath}\nbudget:\n  calls: 1000\n`);
  const { text, json } = await status({ pipeline: file, lake: undefined });
  expect(text).toMatch(/; the lake is \d+.* behind$/m);
  expect((json.lag as { seconds: number }).seconds).toBeGreaterThan(0);
  expect(json).toMatchObject({ budget: { calls: { rule: 'budget.calls', allowed: 1000 } } });
  vi.unstubAllEnvs();
  await expect(status({ online: true })).rejects.toMatchObject({ code: 'usage' });
});

test('status shows retained superseded files and the number of later runs that found no changes', async () => {
  world.pipeline.checks = {};
  world.pipeline.lake.retention = 3_600_000;
  await world.sync();
  await world.sync();
  const { text, json } = await status();
  expect(text).toMatch(/^on disk: tables \S+ kB, superseded files \S+ kB, raw bytes/m);
  expect(text).toMatch(/, last checked at 20\S+ \(one run since then found no changes\)/);
  expect(json).toMatchObject({ idle_runs: 1, up_to_date_at: expect.stringMatching(/^20/) });
});
