import { describe, expect, it } from 'vitest';
import { buildProgram, listCommands } from '../../src/cli/program.js';
import { usageError } from '../../src/cli/usage-error.js';

/** Message and hint of a wrong command line. Actions never run: each of these lines is refused before. */
async function refuse(...args: string[]): Promise<string> {
  const program = buildProgram(args);
  let said: string | undefined;
  program.fail((message, error) => {
    const { message: text, facts } = usageError(message ?? error.message, {
      args,
      commands: listCommands(),
      yargs: program,
    });
    said ??= `${text} → ${facts.hint}`;
    throw error ?? new Error(message);
  });
  try {
    await program.parseAsync();
  } catch {}
  return said ?? 'accepted';
}

describe('an unknown flag', () => {
  it.each(['--quiet', '--dryrun'])('is named where the pipeline file is missing as well: sync %s', async (flag) => {
    const flags =
      '--json, --version, --help, --lake, --publish-held, --reconcile, --max-rows, --max-overage, --deadline';
    expect(await refuse('sync', flag)).toBe(`unknown flag ${flag} of \`pricelake sync\` → There are ${flags}.`);
    expect(await refuse('sync', flag, 'prices.yaml')).toBe(await refuse('sync', flag));
    expect(await refuse('sync', 'prices.yaml', flag)).toBe(await refuse('sync', flag));
  });

  it('of one letter stands for the flag that begins with it: sync -v', async () => {
    expect(await refuse('sync', '-v')).toBe('unknown flag -v of `pricelake sync` → Did you mean `--version`?');
  });

  it('comes with the nearest known one', async () => {
    expect(await refuse('sync', '--recncile')).toMatch(
      /--recncile of `pricelake sync` → Did you mean `--reconcile`\?$/u,
    );
    expect(await refuse('spread', '--no-outlires')).toMatch(/ → Did you mean `--no-outliers`\?$/u);
    expect(await refuse('backfill', 'history', '--itms', '3')).toMatch(/ → Did you mean `--items`\?$/u);
  });

  it('is named before a command that it took for its value', async () => {
    expect(await refuse('--quiet', 'sync', 'prices.yaml')).toMatch(/^unknown flag --quiet → There are --json,/u);
  });

  it('is named for every command', async () => {
    for (const command of listCommands()) {
      const [name = ''] = command.split(' ');
      expect(await refuse(name, '--quiet')).toMatch(
        new RegExp(`^unknown flag --quiet of \`pricelake ${name}\` → There`),
      );
    }
  });

  it('is named without its value, which may be a key', async () => {
    expect(await refuse('query', '--api-key=live_1')).toMatch(/^unknown flag --api-key of `pricelake query` → /u);
    expect(await refuse('status', '-kLIVE')).toMatch(/^unknown flag -k of /u);
  });
});

describe('a command line without unknown flags', () => {
  it('is told what is missing', async () => {
    expect(await refuse('manifest')).toBe(
      'an argument is missing: pricelake manifest <table> → Run `pricelake manifest --help`.',
    );
    expect(await refuse('sync', 'a.yaml', '--maxRows', '5', '--no-reconcile', '--bogus')).toMatch(
      /^unknown flag --bogus/u,
    );
  });

  it('is told of the command that it mistypes, with flags of that', async () => {
    expect(await refuse('synk', '--reconcile')).toBe('unknown command synk → Did you mean `pricelake sync`?');
    expect(await refuse('sync', 'a.yaml', 'b.yaml')).toBe('unknown argument b.yaml → Run `pricelake sync --help`.');
  });
});
