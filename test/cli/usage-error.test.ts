import { describe, expect, it, test } from 'vitest';
import { SPECS } from '../../src/cli/commands.js';
import { buildProgram } from '../../src/cli/program.js';
import { usageError } from '../../src/cli/usage-error.js';
import { runPricelake } from './pricelake.js';

/** Returns the message and hint of a wrong command line, which is refused before any action runs. */
async function refuse(...args: string[]): Promise<string> {
  const program = buildProgram(args);
  let said: string | undefined;
  program.fail((message, error) => {
    const { message: text, facts } = usageError(message ?? error.message, args);
    said ??= `${text} → ${facts.hint}`;
    throw error ?? new Error(message);
  });
  try {
    await program.parseAsync();
  } catch {}
  return said ?? 'accepted';
}

describe('an unknown option', () => {
  it.each(['--frobnicate', '--dryrun'])(
    'is reported even if the pipeline file is missing too: sync %s',
    async (flag) => {
      const flags =
        '--json, --quiet, --verbose, --color, --version, --help, --lake, --dataset, --publish-held, --reconcile, --land-only, --backfill, --max-rows, --max-overage, --deadline, --metrics, --openlineage, --notify';
      expect(await refuse('sync', flag)).toBe(
        `unknown option ${flag} of \`pricelake sync\` → Its options are ${flags}.`,
      );
      expect(await refuse('sync', flag, 'prices.yaml')).toBe(await refuse('sync', flag));
      expect(await refuse('sync', 'prices.yaml', flag)).toBe(await refuse('sync', flag));
    },
  );

  it.each([
    ['sync -r', '-r of `pricelake sync` → Did you mean `--reconcile`?'],
    ['sync --recncile', '--recncile of `pricelake sync` → Did you mean `--reconcile`?'],
    ['sandbox --no-overge', '--no-overge of `pricelake sandbox` → Did you mean `--no-overage`?'],
    ['lake compact --file-sise 3', '--file-sise of `pricelake lake compact` → Did you mean `--file-size`?'],
    ['--frobnicate sync prices.yaml', '--frobnicate → Its options are --json,'],
    ['query --api-key=live_1', '--api-key of `pricelake query` → '],
    ['status -kLIVE', '-k of '],
    ['sync a.yaml --maxRows 5 --no-reconcile --bogus', '--bogus of '],
  ])('is reported without its value, which may be a key, and with the nearest option: %s', async (line, message) => {
    expect((await refuse(...line.split(' '))).startsWith(`unknown option ${message}`)).toBe(true);
  });

  it('is reported for every command', async () => {
    for (const spec of SPECS) {
      const { name } = spec;
      if (name === 'help') continue; // yargs itself prints the help for it
      expect(await refuse(...name.split(' '), '--frobnicate')).toMatch(
        new RegExp(`^unknown option --frobnicate of \`pricelake ${name}\` → Its options`),
      );
    }
  });
});

test.each([
  ['query FROM --format cvs', "--format can't be cvs → Did you mean `csv`?"],
  ['spread --grade D', "--grade can't be D → Choose from A, B, C."],
  ['schema item', "<table> can't be item → Did you mean `items`?"],
  ['check --fail-on never', "--fail-on can't be never → Choose from gate, error, warn."],
  [
    'deliver manifest',
    'missing argument: pricelake deliver manifest <table> → Run `pricelake deliver manifest --help`.',
  ],
  ['spread --currency', '--currency needs a value → Run `pricelake spread --help`.'],
  ['watch', '--list is missing → Run `pricelake watch --help`.'],
  ['foo', 'unknown command foo → Run `pricelake --help`.'],
  ['synk --reconcile', 'unknown command synk → Did you mean `pricelake sync`?'],
  ['sync a.yaml b.yaml', 'unknown argument b.yaml → Run `pricelake sync --help`.'],
])('a mistake is reported with the correct form: %s', async (line, message) => {
  expect(await refuse(...line.split(' '))).toBe(message);
});

test.each([
  ['sync', '--help'],
  ['sync', '-h'],
  ['sync', '-qh'],
  ['sync', 'help'],
])('the help of %s %s has lines of at most a hundred characters', async (...args) => {
  const help = await readHelp(args);
  expect(help).toContain('--reconcile');
  expect(Math.max(...help.split('\n').map((line) => line.length))).toBeLessThanOrEqual(100);
});

test.each([0, Number.NaN, undefined])(
  'on a terminal that reports %s columns, the help is 80 columns wide',
  async (columns) => {
    const { stdout } = process;
    const before = { isTTY: stdout.isTTY, columns: stdout.columns };
    const read = (width: number | undefined) => {
      Object.assign(stdout, { isTTY: true, columns: width });
      return readHelp(['sync', '--help']).finally(() => Object.assign(stdout, before));
    };
    expect(await read(columns as number)).toBe(await read(80));
  },
);

test.each([[['sync', '--help']], [['lake', '--help']], [['spread', '--help']]])(
  'the bundle lays out %j as the packages do, although it measures texts itself',
  async (args) => expect((await runPricelake(args)).stdout.trim()).toBe((await readHelp(args)).trim()),
);

function readHelp(args: string[]): Promise<string> {
  return new Promise((resolve) => {
    void buildProgram(args).parse(args, {}, (_error: unknown, _argv: unknown, output: string) => resolve(output));
  });
}
