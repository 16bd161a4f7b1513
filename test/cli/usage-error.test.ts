import { describe, expect, it, test } from 'vitest';
import { COMMANDS } from '../../src/cli/commands.js';
import { buildProgram } from '../../src/cli/program.js';
import { usageError } from '../../src/cli/usage-error.js';
import { runPricelake } from './pricelake.js';

/** Message and hint of a wrong command line. Actions never run: each of these lines is refused before. */
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
    'is named where the pipeline file is missing as well: sync %s',
    async (flag) => {
      const flags =
        '--json, --quiet, --verbose, --color, --version, --help, --lake, --publish-held, --reconcile, --land-only, --max-rows, --max-overage, --deadline, --metrics, --openlineage';
      expect(await refuse('sync', flag)).toBe(
        `unknown option ${flag} of \`pricelake sync\` → Its options are ${flags}.`,
      );
      expect(await refuse('sync', flag, 'prices.yaml')).toBe(await refuse('sync', flag));
      expect(await refuse('sync', 'prices.yaml', flag)).toBe(await refuse('sync', flag));
    },
  );

  it('of one letter is taken for the option that begins with it: sync -d', async () => {
    expect(await refuse('sync', '-d')).toBe('unknown option -d of `pricelake sync` → Did you mean `--deadline`?');
  });

  it('comes with the nearest known one', async () => {
    expect(await refuse('sync', '--recncile')).toMatch(
      /--recncile of `pricelake sync` → Did you mean `--reconcile`\?$/u,
    );
    expect(await refuse('spread', '--no-outlires')).toMatch(/ → Did you mean `--no-outliers`\?$/u);
    expect(await refuse('backfill', 'history', '--itms', '3')).toMatch(/ → Did you mean `--items`\?$/u);
  });

  it('is named before a command that it took for its value', async () => {
    expect(await refuse('--frobnicate', 'sync', 'prices.yaml')).toMatch(
      /^unknown option --frobnicate → Its options are --json,/u,
    );
  });

  it('is named for every command', async () => {
    for (const { spec } of COMMANDS) {
      const { name } = spec;
      if (name === 'help') continue; // yargs answers it by itself, with the help
      expect(await refuse(name, '--frobnicate')).toMatch(
        new RegExp(`^unknown option --frobnicate of \`pricelake ${name}\` → Its options`),
      );
    }
  });

  it('is named without its value, which may be a key', async () => {
    expect(await refuse('query', '--api-key=live_1')).toMatch(/^unknown option --api-key of `pricelake query` → /u);
    expect(await refuse('status', '-kLIVE')).toMatch(/^unknown option -k of /u);
  });
});

describe('a value that is not one of the choices', () => {
  it('comes with the nearest of them, or all', async () => {
    expect(await refuse('query', 'FROM items', '--format', 'cvs')).toBe("--format can't be cvs → Did you mean `csv`?");
    expect(await refuse('spread', '--grade', 'D')).toBe("--grade can't be D → Choose from A, B, C.");
    expect(await refuse('schema', 'item')).toBe("<table> can't be item → Did you mean `items`?");
    expect(await refuse('check', '--fail-on', 'never')).toBe(
      "--fail-on can't be never → Choose from gate, error, warn.",
    );
  });
});

describe('a command line without unknown options', () => {
  it('names what is missing', async () => {
    expect(await refuse('manifest')).toBe(
      'an argument is missing: pricelake manifest <table> → Run `pricelake manifest --help`.',
    );
    expect(await refuse('spread', '--currency')).toBe('--currency needs a value → Run `pricelake spread --help`.');
    expect(await refuse('watch')).toBe('--list is missing → Run `pricelake watch --help`.');
    expect(await refuse('sync', 'a.yaml', '--maxRows', '5', '--no-reconcile', '--bogus')).toMatch(
      /^unknown option --bogus/u,
    );
  });

  it('names the command that is mistyped, and surplus arguments', async () => {
    expect(await refuse('synk', '--reconcile')).toBe('unknown command synk → Did you mean `pricelake sync`?');
    expect(await refuse('sync', 'a.yaml', 'b.yaml')).toBe('unknown argument b.yaml → Run `pricelake sync --help`.');
  });
});

test.each([
  ['sync', '--help'],
  ['sync', '-h'],
  ['sync', '-qh'],
  ['sync', 'help'],
])('the help that %s %s asks for has lines of a hundred characters at most', async (...args) => {
  const help = await readHelp(args);
  expect(help).toContain('--reconcile');
  expect(Math.max(...help.split('\n').map((line) => line.length))).toBeLessThanOrEqual(100);
});

test.each([0, Number.NaN, undefined])(
  'the help of a terminal that says it has %s columns is 80 wide',
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

test.each([[['--help']], [['sync', '--help']], [['spread', '--help']]])(
  'the bundle, which measures texts by itself, lays out %j as the packages do',
  async (args) => expect((await runPricelake(args)).stdout.trim()).toBe((await readHelp(args)).trim()),
);

function readHelp(args: string[]): Promise<string> {
  return new Promise((resolve) => {
    void buildProgram(args).parse(args, {}, (_error: unknown, _argv: unknown, output: string) => resolve(output));
  });
}
