import { execFile } from 'node:child_process';
import { rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { listAnalyses } from '../../src/analyze/analysis.js';
import { measureWidth } from '../../src/cli/output/display-width.js';
import { publishLake } from './lake-fixture.js';
import { MAIN, readJsonLine, runHere, runPricelake } from './pricelake.js';

const lake = await publishLake();
afterAll(() => rm(dirname(lake), { recursive: true }));

describe('the pricelake command', () => {
  it('lists its commands', async () => {
    const { code, stdout } = await runPricelake(['--help']);
    expect(code).toBe(0);
    for (const command of ['check', 'spread', 'query', 'status']) expect(stdout).toContain(`pricelake ${command}`);
  });

  it.each([undefined, 80])(
    'without arguments shows seven commands and how to begin, on a terminal of %s columns',
    async (columns) => {
      const { code, stdout, stderr } = await runHere([], { columns });
      expect([code, stderr]).toEqual([0, '']);
      const named = [...stdout.matchAll(/^ {2}pricelake (\w+) /gmu)].map(([, name]) => name);
      expect(named).toEqual(['sync', 'spread', 'query', 'explore', 'status', 'demo', 'init']);
      expect(stdout).toContain('pricelake --help lists all commands');
      for (const line of stdout.split('\n'))
        expect(line.length).toBeLessThanOrEqual(columns ?? Number.POSITIVE_INFINITY);
    },
  );

  it("shows a command's own options before those of every command, and examples", async () => {
    const { stdout } = await runPricelake(['spread', '--help']);
    expect(stdout).toContain('Examples:');
    const [own = '', shared = ''] = stdout.split('\nOptions of every command:\n');
    expect(own).toContain('--min-shops');
    expect(own).not.toMatch(/--(json|quiet|verbose|color|version|help) /u);
    expect(shared).toMatch(/--json[\s\S]*--help/u);
  });

  it('lists the analyses with their questions if --analysis has no name', async () => {
    const { code, stdout } = await runHere(['query', '--analysis'], { columns: 80 });
    expect(code).toBe(0);
    const lines = stdout.split('\n');
    for (const name of listAnalyses()) expect(lines.some((line) => line.startsWith(`${name} `))).toBe(true);
    expect(stdout).toMatch(/^attribute_names +The attributes of listed items and their values/mu);
    for (const line of lines) expect(line.length).toBeLessThanOrEqual(80);
    const { analyses } = readJsonLine(await runHere(['query', '--json', '--analysis']));
    expect(analyses).toHaveLength(listAnalyses().length);
    expect(analyses).toContainEqual({
      name: 'offers',
      question: expect.stringMatching(/^The listed offers of a product.*\.$/u),
      variables: expect.arrayContaining([expect.objectContaining({ name: 'product' })]),
    });
    expect((await runHere(['query', '--analysis', 'ofers'])).stderr).toContain('Did you mean `offers`?');
  });

  it('shows the wrong line of the SQL with a caret below the place', async () => {
    const { code, stderr } = await runHere(['query', '--lake', lake, 'SELECT item_id,\n  nam\nFROM items']);
    expect(code).toBe(2);
    const [message, line = '', caret = ''] = stderr.split('\n');
    expect(message).toMatch(/^pricelake: Binder Error: Referenced column "nam" not found/u);
    expect([line, line[caret.indexOf('^')]]).toEqual(['  LINE 2:   nam', 'n']);
  });

  it('shows amounts with their cents, rounds only computed ones, and keeps files exact', async () => {
    const sql = `SELECT currency, 14739.9000::DECIMAL(18, 4) AS price, 1.0299::DECIMAL(18, 4) AS odd, 23::DECIMAL(18, 4) AS whole,
      1152.1350::DECIMAL(18, 4) AS trusted_median, 1 / 3 AS share FROM (VALUES ('EUR'), ('KWD')) t(currency)`;
    const show = async (format: string) => {
      const { stdout } = await runHere(['query', '--lake', lake, '--format', format, sql]);
      return stdout.split(/\r?\n/u).map((line) => line.trim().split(/ +|,/u));
    };
    const table = await show('table');
    const csv = await show('csv');
    expect(table.slice(2, 4)).toEqual([
      ['EUR', '14739.90', '1.0299', '23.00', '1152.14', '0.333333'],
      ['KWD', '14739.90', '1.0299', '23.00', '1152.135', '0.333333'],
    ]);
    expect(csv.slice(1, 2)).toEqual([['EUR', '14739.9000', '1.0299', '23.0000', '1152.1350', '0.3333333333333333']]);
  });

  it.each([
    [60, 'min at, max at, product, median, shops, left out, grade because'],
    [80, 'product, median, shops, left out, grade because'],
    [120, 'grade because'],
  ])('keeps the title, the spread and the grade on a terminal of %i columns', async (columns, leftOut) => {
    const { stdout } = await runHere(['spread', '--lake', lake, '--top', '1'], { columns });
    const [heading = '', , row = ''] = stdout.split('\n');
    expect([heading, row].map(measureWidth).every((width) => width <= columns)).toBe(true);
    expect(heading).toMatch(/^title +spread % +grade +in +min +max/u);
    expect(row).toMatch(/^Kettle.* 100\.0 +B +EUR +10\.0001 +20\.00/u);
    expect(stdout.replaceAll(/\n {2}/gu, ' ')).toContain(`\n… columns that don't fit: ${leftOut}\n`);
  });

  it('refuses an unknown option with exit code 2 and a suggestion, in English in any locale', async () => {
    expect(await runHere(['spread', '--curency', 'EUR'], { env: { LC_ALL: 'tr_TR.UTF-8' } })).toEqual({
      code: 2,
      stdout: '',
      stderr: 'pricelake: unknown option --curency of `pricelake spread`\n  → Did you mean `--currency`?\n',
    });
  });

  it('refuses a flag without its value, also as JSON', async () => {
    const { code, stdout } = await runHere(['status', '--json', '--lake']);
    expect(code).toBe(2);
    expect(JSON.parse(stdout)).toMatchObject({ ok: false, error: { code: 'usage' } });
  });

  it('prints the JSON line last and logs on stderr', async () => {
    const outcome = await runPricelake(['status', '--lake', lake, '--json']);
    expect(outcome.code).toBe(0);
    expect(readJsonLine(outcome)).toMatchObject({ ok: true, run_number: 1, cursor: 42 });
  });

  it('colors failures if requested, and otherwise never', async () => {
    const run = (args: string[], env: NodeJS.ProcessEnv) =>
      runPricelake(['status', '--lake', '/none', ...args], { env });
    expect((await run([], { FORCE_COLOR: '1' })).stderr.startsWith('\u001b[31mpricelake:\u001b[39m ')).toBe(true);
    expect((await run(['--no-color'], { FORCE_COLOR: '1' })).stderr).toMatch(/^pricelake: /u);
  });

  it('reports, also as JSON, that it may open too few files', async () => {
    const script = `ulimit -n 26; exec "${process.execPath}" "${MAIN}" check --lake "${lake}" --json`;
    const [code, stdout, stderr] = await new Promise<[unknown, string, string]>((resolve) => {
      execFile('sh', ['-c', script], (error, out, err) => resolve([error?.code, out, err]));
    });
    expect({ code, ...JSON.parse(stdout) }).toMatchObject({ code: 1, ok: false, error: { code: 'open_files' } });
    expect(stderr).toMatch(/^pricelake: EMFILE: too many open files.*\n {2}→ Raise the limit/u);
  });

  it("reports that it doesn't run on Windows", async () => {
    const windows = 'data:text/javascript,Object.defineProperty(process,`platform`,{value:`win32`})';
    const env = { NODE_OPTIONS: `--import ${windows}` };
    expect(await runPricelake(['spread', '--lake', lake], { env })).toEqual({
      code: 2,
      stdout: '',
      stderr: 'pricelake: Windows is not supported; use WSL or a container\n',
    });
  });

  it('ends quietly if the reader of its output closes', async () => {
    const args = ['query', 'FROM range(3000000)', '--lake', lake, '--format', 'csv'];
    const { code, stderr } = await runPricelake(args, {
      act: (child) => child.stdout?.once('data', () => child.stdout?.destroy()),
    });
    expect(code).toBe(0);
    expect(stderr).not.toContain('EPIPE');
  });

  it.each([
    ['SIGINT', 130],
    ['SIGTERM', 143],
  ] as const)('stops a running query on %s with exit code %i', async (signal, code) => {
    const args = ['query', 'FROM range(1000000000000)', '--lake', lake, '--format', 'csv'];
    const outcome = await runPricelake(args, { act: (child) => child.stdout?.once('data', () => child.kill(signal)) });
    expect(outcome.code).toBe(code);
    expect(outcome.stderr).toContain(`pricelake: stopped by ${signal}`);
  });

  it('ends at once on a second signal, even while DuckDB computes one value uninterruptibly', async () => {
    const long = "(SELECT string_agg('0123456789' || range, '') FROM range(30000))";
    const args = ['query', `SELECT levenshtein(${long}, reverse(${long}))`, '--lake', lake, '-v'];
    let begun = 0;
    const outcome = await runPricelake(args, {
      act: (child) =>
        child.stderr?.on('data', (text) => {
          if (!String(text).includes('query.begins')) return;
          setTimeout(() => child.kill('SIGTERM'), 1000);
          setTimeout(() => {
            begun = performance.now();
            child.kill('SIGTERM');
          }, 1300);
        }),
    });
    // The signal itself ended the process; a shell reports 143.
    expect([outcome.code, begun > 0, performance.now() - begun < 5000]).toEqual([null, true, true]);
  });
});
