import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { publishLake } from './lake-fixture.js';
import { MAIN, readJsonLine, runPricelake } from './pricelake.js';

const lake = await publishLake();
const folder = await mkdtemp(join(tmpdir(), 'pricelake-around-'));
afterAll(async () => {
  for (const path of [dirname(lake), folder]) await rm(path, { recursive: true });
});

const LONG = ['query', 'SELECT count(*) FROM range(1000000) a, range(1000000) b WHERE (a.range * b.range) % 7 = 3'];

describe('a SIGHUP', () => {
  /** Sends signals to the command, which `script` starts, once it runs its query. */
  const hangUp = (shell: string, script: string, ...signals: NodeJS.Signals[]) =>
    runPricelake([...LONG, '--lake', lake], {
      shell: [shell, '-c', script, process.execPath, MAIN],
      act: (child) => {
        child.stdin?.end();
        const send = (at: number) => {
          if (signals[at] === undefined) return;
          child.kill(signals[at]);
          setTimeout(() => send(at + 1), 1000);
        };
        setTimeout(() => send(0), 4000);
      },
    });

  test('stops a command in order, with exit code 129', async () => {
    const { code, stderr } = await hangUp('sh', 'exec "$0" "$@"', 'SIGHUP');
    expect([code, stderr]).toEqual([129, 'pricelake: stopped by SIGHUP\n']);
  });

  test.each([
    [
      'bash',
      'nohup "$0" "$@" & child=$!; trap "kill -TERM $child" TERM; trap "kill -HUP $child" HUP; while kill -0 $child; do wait $child; code=$?; done 2>/dev/null; exit $code',
    ],
    ['sh', 'exec nohup "$0" "$@" 0>/dev/null'],
  ])('that was ignored at the start has no effect: %s', async (shell, script) => {
    const { code, stderr } = await hangUp(shell, script, 'SIGHUP', 'SIGTERM');
    expect([code, stderr]).toEqual([143, expect.stringContaining('pricelake: stopped by SIGTERM\n')]);
  });
});

describe('a missing folder for temporary files', () => {
  test.each([['query', 'FROM items'], ['status']])('is reported by %s', async (...args) => {
    const TMPDIR = join(folder, 'gone');
    const { code, stderr } = await runPricelake([...args, '--lake', lake], { env: { TMPDIR } });
    expect(code).toBe(2);
    expect(stderr).toBe(
      `pricelake: temporary files go to ${TMPDIR}, but there is no such folder\n  → Set TMPDIR to a folder that this user may write.\n`,
    );
  });

  test('is reported if its path is a file', async () => {
    const TMPDIR = join(folder, 'file');
    await writeFile(TMPDIR, '');
    const { stderr } = await runPricelake(['query', 'FROM items', '--lake', lake], { env: { TMPDIR } });
    expect(stderr).toContain('temporary files go to');
  });
});

describe.skipIf(process.platform !== 'linux')('a process with a low limit on open files', () => {
  const run = (files: number, ...args: string[]) =>
    runPricelake([...args, '--lake', lake], {
      shell: ['sh', '-c', `ulimit -n ${files}; exec "$0" "$@"`, process.execPath, MAIN],
    });

  test('ends with one sentence and one JSON line', async () => {
    const outcome = await run(20, 'query', 'FROM items', '--json');
    expect(outcome.code).toBe(1);
    expect(outcome.stderr).toMatch(/^pricelake: this process can open only 20 files, but needs 24\n {2}→ .*\n$/u);
    expect(readJsonLine(outcome)).toMatchObject({ ok: false, error: { code: 'open_files' } });
  });

  test('works if the limit is slightly above the required number', async () => {
    expect((await run(32, 'query', 'FROM items', '--format', 'csv')).code).toBe(0);
  });
});
