import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { afterAll, describe, expect, test } from 'vitest';
import { loadChecks } from '../../src/check/load.js';
import { MAIN, readJsonLine, runHere, runPricelake } from './pricelake.js';

const run = promisify(execFile);
const cwd = await mkdtemp(path.join(tmpdir(), 'pricelake-demo-'));
afterAll(() => rm(cwd, { recursive: true }));

describe('the demo', () => {
  test('copies, syncs, checks and compares, shows only faults that checks find, and suggests working commands', async () => {
    const { code, stdout } = await runPricelake(['demo', '--items', '300'], { cwd });
    expect(code).toBe(0);
    for (const step of ['1. ', '2. ', '3. ', '4. ', '5. ', '6. ', '7. ']) expect(`\n${stdout}`).toContain(`\n${step}`);
    expect(stdout).toMatch(/Run 1 \(snapshot: [^)]+\) published to \.\/demo-lake/);
    expect(stdout).toMatch(/Run 2 \(feed: [^)]+\) published to \.\/demo-lake/);
    expect(stdout).toContain('Nothing changed');
    expect(stdout).toContain('It includes mistakes that real shops make');
    const [, found, all] = /(\d+) of (\d+) find violations/u.exec(stdout) ?? [];
    expect(Number(all)).toBe((await loadChecks()).length);
    const named = stdout.match(/^(?:gate {2}|error|warn ) \w+: \d+ .*\.$/gmu) ?? [];
    expect([named.length, named.length > 0]).toEqual([Number(found), true]);
    expect(named[0]).toMatch(/^warn {2}gtin_check_digit: \d+ GTINs? ha(s|ve) a wrong length or check digit\.$/u);
    expect(stdout).not.toMatch(/FAILED|attention|^ *ok /mu);
    // As they stand, in a shell where `npm link` may have made pricelake known.
    const commands = stdout.match(/(?<=^ *)(?:node|pricelake) .*/gm) ?? [];
    expect(commands.map((line) => line.replace(`node ${MAIN}`, 'pricelake').split(' ')[1])).toEqual([
      ...['check', 'explore', 'explore', 'spread', 'query', 'sandbox'],
    ]);
    // Two of the commands serve until they are stopped.
    for (const line of [commands[0] ?? '', ...commands.slice(2, -1)]) await run('sh', ['-c', line], { cwd });
  });

  test("doesn't replace the lake of another pipeline", async () => {
    const pointer = path.join(cwd, 'demo-lake', 'lake.json');
    const theirs = (await readFile(pointer, 'utf8')).replace('"demo"', '"prices"');
    await writeFile(pointer, theirs);
    const outcome = await runHere(['demo', '--json'], { cwd });
    expect(outcome.code).toBe(2);
    expect(readJsonLine(outcome)).toMatchObject({
      error: { message: './demo-lake is the lake of the "prices" pipeline, not of a demo' },
    });
    expect(await readFile(pointer, 'utf8')).toBe(theirs);
  });
});
