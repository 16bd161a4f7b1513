import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { readJsonLine, runHere, runPricelake } from './pricelake.js';

const cwd = await mkdtemp(path.join(tmpdir(), 'pricelake-demo-'));
afterAll(() => rm(cwd, { recursive: true }));

const readPointer = async () =>
  JSON.parse(await readFile(path.join(cwd, 'demo-lake', 'lake.json'), 'utf8')) as { runId: string };

describe('the demo', () => {
  test('replaces its lake when it runs again', async () => {
    expect((await runHere(['demo', '--items', '60', '--json'], { cwd })).code).toBe(0);
    const before = await readPointer();
    const { code, stdout } = await runHere(['demo', '--items', '100', '--json'], { cwd });
    expect([code, stdout.trimEnd().split('\n').length]).toEqual([0, 1]);
    const { runs } = JSON.parse(stdout) as { runs: { items: number; run_number: number; published: boolean }[] };
    expect(runs.map((run) => [run.run_number, run.published])).toEqual([
      [1, true],
      [2, true],
      [3, false],
    ]);
    expect(runs[0]?.items).toBe(100);
    expect((await readPointer()).runId).not.toBe(before.runId);
  });

  test('with --keep puts the lake and the report in its own folder', async () => {
    const outcome = await runPricelake(['demo', '--items', '60', '--keep', 'kept', '--json'], { cwd });
    const report = path.join(cwd, 'kept', 'report.html');
    expect(readJsonLine(outcome)).toMatchObject({ ok: true, lake: path.join('kept', 'lake'), report });
    expect((await readdir(path.join(cwd, 'kept'))).sort()).toEqual(['lake', 'report.html']);
  });
});
