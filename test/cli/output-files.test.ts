import { existsSync } from 'node:fs';
import { chmod, mkdir, mkdtemp, readdir, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { publishLake } from './lake-fixture.js';
import { MAIN, readJsonLine, runHere, runPricelake } from './pricelake.js';

const lake = await publishLake();
const folder = await mkdtemp(join(tmpdir(), 'pricelake-outputs-'));
afterAll(async () => {
  for (const path of [dirname(lake), folder]) await rm(path, { recursive: true });
});

const FORMATS = ['csv', 'ndjson', 'json', 'arrow', 'parquet', 'table'];
const LATE = "SELECT CASE WHEN i < 1500 THEN i ELSE error('late') END AS n FROM range(2000) t(i)";
/** Commands that write a file. */
const WRITERS: [name: string, ...args: string[]][] = [
  ...FORMATS.map((format): [string, ...string[]] => [`query ${format}`, 'query', 'FROM items', '--format', format]),
  ['spread', 'spread', '--format', 'csv'],
  ['manifest', 'manifest', 'items'],
  ['schema', 'schema', 'items'],
  ['load', 'load', 'snowflake', '--full', '--base', '@lake_stage'],
  ['report', 'report'],
];
const write = (args: string[], file: string, ...more: string[]) =>
  runHere([...args, ...(args[0] === 'schema' ? [] : ['--lake', lake]), '--output', file, ...more]);

describe('a failed query', () => {
  test.each(FORMATS)('keeps the last good %s file and leaves nothing else', async (format) => {
    const place = join(folder, format);
    await mkdir(place);
    const file = join(place, 'result');
    await writeFile(file, 'the last good one');
    const { code, stderr } = await write(['query', LATE, '--format', format], file);
    expect([code, stderr]).toEqual([2, expect.stringContaining('pricelake: Invalid Input Error: late')]);
    expect(await readFile(file, 'utf8')).toBe('the last good one');
    expect(await readdir(place)).toEqual(['result']);
  });
});

describe.each(WRITERS)('%s', (name, ...args) => {
  test('refuses a missing folder with one sentence or one JSON line', async () => {
    const file = join(folder, 'nofolder', 'x');
    const { code, stdout, stderr } = await write(args, file);
    expect([code, stdout]).toEqual([2, '']);
    expect(stderr).toMatch(
      /^pricelake: can't write \S+: there is no folder \S+nofolder\n {2}→ Choose another file\.\n$/u,
    );
    const json = await write(args, file, '--json');
    expect(readJsonLine(json)).toMatchObject({ ok: false, error: { code: 'usage' } });
  });

  test.skipIf(!existsSync('/dev/full') || name === 'report')('reports a full device with its own code', async () => {
    const { code, stdout } = await write(args, '/dev/full', '--json');
    expect(code).toBe(1);
    expect(JSON.parse(stdout)).toMatchObject({
      ok: false,
      error: { code: 'disk_full', message: "can't write /dev/full: no space left" },
    });
  });

  test('replaces the file behind a link and keeps its permissions', async () => {
    const place = await mkdtemp(join(folder, 'link-'));
    const target = join(place, 'target');
    await writeFile(target, '');
    await chmod(target, 0o640);
    await symlink('target', join(place, 'link'));
    expect((await write(args, join(place, 'link'))).code).toBe(0);
    expect((await stat(target)).size).toBeGreaterThan(0);
    expect((await stat(target)).mode & 0o777).toBe(0o640);
  });
});

test.skipIf(process.getuid?.() === 0)(
  'a folder without write permission is reported before the query runs',
  async () => {
    const place = join(folder, 'closed');
    await mkdir(place, { mode: 0o500 });
    const { stderr } = await write(['query', LATE, '--format', 'parquet'], join(place, 'x'));
    expect(stderr).toContain('this user may not write there');
  },
);

describe.skipIf(!existsSync('/dev/full'))('a full stdout', () => {
  const run = (...args: string[]) =>
    runPricelakeThroughShell(`"$0" "$@" > /dev/full`, [process.execPath, MAIN, ...args]);

  test.each([
    ['query', 'FROM range(5)', '--format', 'csv'],
    ['query', 'FROM range(500000)', '--format', 'ndjson'],
    ['query', 'FROM items', '--format', 'parquet'],
    ['query', 'FROM range(5)', '--json'],
    ['status'],
  ])('ends %s %s with one sentence', async (...args) => {
    const { code, stderr } = await run(...args, '--lake', lake);
    expect([code, stderr.split('\n')[0]]).toEqual([1, "pricelake: can't write stdout: no space left"]);
    expect(stderr).not.toMatch(/ {4}at |node:/u);
  });

  test.each([['--help'], ['--version'], []])('makes %s print no stack trace', async (...args) => {
    expect((await run(...args)).stderr).not.toMatch(/ {4}at |node:/u);
  });
});

function runPricelakeThroughShell(script: string, args: string[]): ReturnType<typeof runPricelake> {
  return runPricelake([], { shell: ['/bin/sh', '-c', script, ...args] });
}
