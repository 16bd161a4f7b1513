import { existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { toFlagName } from '../../src/cli/command.js';
import { GROUPS, resolveAlias, SPECS } from '../../src/cli/commands.js';
import { packagePath } from '../../src/io/package-path.js';
import { runHere } from './pricelake.js';

const ROOM = packagePath('src/cli');
const read = (file: string) => readFileSync(path.join(ROOM, file), 'utf8');

/** Files of the actions, by the names under which `commands.ts` imports their declarations. */
const ACTIONS = new Map(
  [...read('commands.ts').matchAll(/joinAction\(\s*(\w+),\s*async \(\) => \(await import\('\.\/([^']+)\.js'\)/gu)].map(
    ([, name = '', file = '']) => [toFlagName(name).replace('-', ' '), `${file}.ts`] as const,
  ),
);

/** The text of a file and of everything in the room that it imports, without declarations and comments. */
function readWithImports(file: string, seen = new Set<string>()): string {
  if (seen.has(file) || file.startsWith('commands/') || !existsSync(path.join(ROOM, file))) return '';
  seen.add(file);
  const text = read(file);
  const imports = [...text.matchAll(/(?:from |import\()'(\.[^']+)\.js'/gu)].map(([, name = '']) =>
    path.normalize(path.join(path.dirname(file), `${name}.ts`)),
  );
  const code = text.replaceAll(/^ *(?:\/?\*|\/\/).*$/gmu, '');
  return code + imports.map((one) => readWithImports(one, seen)).join('');
}

test('each declaration is in the list of commands', () => {
  const files = readdirSync(path.join(ROOM, 'commands')).map((file) => read(`commands/${file}`));
  const declared = files.flatMap((text) => [...text.matchAll(/declareCommand\(\{\s*name: '([^']+)'/gu)]);
  expect(SPECS.map(({ name }) => name).sort()).toEqual(declared.map(([, name]) => name).sort());
});

describe.each(SPECS)('pricelake $name', ({ name, options = {}, arguments: positionals = {} }) => {
  const all = { ...positionals, ...options };

  test('has an action that reads each of its options and arguments', () => {
    const file = ACTIONS.get(name);
    // A group only has subcommands.
    if (file === undefined) return expect([all, name]).toEqual([{}, expect.stringMatching(/^(?:lake|deliver)$/u)]);
    const code = readWithImports(file);
    const unread = Object.keys(all).filter((key) => !new RegExp(`\\b${key}\\b`, 'u').test(code));
    expect(unread.map((key) => `src/cli/${file} does not read ${key}`)).toEqual([]);
  });

  test('excludes or needs only options that it has, and excludes none with a default', () => {
    for (const { excludes = [], needs = [], default: own } of Object.values(all)) {
      const others = [...excludes, ...[needs].flat()];
      expect(Object.keys(options)).toEqual(expect.arrayContaining(others));
      if (excludes.length > 0)
        expect([own, ...excludes.map((key) => options[key]?.default)].filter(Boolean)).toEqual([]);
    }
  });
});

describe('an invalid value is refused before anything else happens', () => {
  test.each([
    ['plan --max-rows -1', '--max-rows -1 is not a whole number (0 or more)'],
    ['sync --deadline soon', '--deadline soon is not a duration such as 90s, 20m, 48h or 7d'],
    ['sync --deadline 0', '--deadline 0 is not a duration'],
    [
      'sync --land-only --publish-held',
      "--land-only and --publish-held can't be used together\n  → Use only one of them.",
    ],
    ['sync --land-only --metrics m.prom', "--land-only and --metrics can't be used together"],
    ['spread --top abc', '--top has a value that is not a whole number (0 or more)'],
    ['spread --top 1.5', '--top 1.5 is not a whole number'],
    ['spread --daily --since monday', '--since monday is not a day such as 2026-11-20, or a time such as 30d'],
    ['query --memory much FROM', '--memory much is not a size such as 512MB or 2GB'],
    ['query --set top FROM', '--set top is not in the form name=value'],
    ['query --remote s3://a --cache-size big FROM', '--cache-size big is not a size such as 500MB or 10GB'],
    ['explore --output x --top 100000', '--top 100000 is not a whole number (1 to 1000)'],
    ['explore --top 10', '--top needs --output\n  → Use both.'],
    ['explore --output x --port 80', "--output and --port can't be used together"],
    ['watch --list a.csv --own-site x', '--own-site x is not a site_id\n  → Use a site_id from the sites table.'],
    ['lake compact --file-size huge', '--file-size huge is not a size such as 64MB or 1GB'],
    ['sync --backfill 1,,2', '--backfill 1,,2 is not a comma-separated list of item IDs, or an SQL condition'],
    ['sync --backfill 9223372036854775808', '--backfill 9223372036854775808 is not a comma-separated list of item IDs'],
    ['sync --backfill 1 --reconcile', "--backfill and --reconcile can't be used together"],
    ['status --lake a --lake b', '--lake can be given only once'],
    ['status --no-lake', '--lake needs a value'],
    ['sandbox --changes a.ndjson', '--changes needs --data\n  → Use both.'],
  ])('%s', async (line, message) => {
    const { code, stderr } = await runHere(line.split(' '));
    expect([code, stderr]).toEqual([2, expect.stringContaining(`pricelake: ${message}`)]);
  });
});

test('help groups the commands by purpose, each on one line of an 80-column terminal', async () => {
  const { stdout } = await runHere(['--help'], { columns: 80 });
  for (const { title, commands } of GROUPS) {
    const lines = commands.map(({ spec }) => `  pricelake ${spec.name.padEnd(7)}  ${spec.describe}\n`);
    expect(stdout).toContain(`${title}:\n${lines.join('')}`);
    expect(lines.filter((line) => line.length > 80)).toEqual([]);
  }
  expect(stdout).toContain('--verbose');
  expect(stdout).toMatch(/ 75 {2}temporary failure/u);
});

describe('an earlier form of a command line still works', () => {
  test.each([
    ['compact --file-size huge', '--file-size huge is not a size'],
    ['rebuild --nope', 'unknown option --nope of `pricelake lake rebuild`'],
    ['restore --lake', '--lake needs a value'],
    ['changes items', '--since is missing'],
    ['manifest', 'missing argument: pricelake deliver manifest <table>'],
    ['--json load postgres --since 1 --full', "--since and --full can't be used together"],
    ['backfill history --items 1,,2', '--backfill 1,,2 is not a comma-separated list of item IDs'],
    ['backfill history --where=a=1 --nope', 'unknown option --nope of `pricelake sync`'],
    ['--lake none compact --file-size huge', '--file-size huge is not a size'],
    ['report --top 0', '--top 0 is not a whole number (1 to 1000)'],
    ['report --output other.html --top 0', '--top 0 is not a whole number (1 to 1000)'],
    ['matches --top x --lake none', 'top=x is not a whole number'],
  ])('%s', async (line, message) => {
    const { code, stderr } = await runHere(line.split(' '));
    expect([code, stderr]).toEqual([2, expect.stringContaining(message)]);
  });

  test('including its options, which are translated to the current ones', () => {
    const resolve = (line: string) => resolveAlias(line.split(' ')).join(' ');
    expect(resolve('report --output a.html')).toBe('explore --output a.html');
    expect(resolve('-v report')).toBe('-v explore --output=./pricelake-report.html');
    expect(resolve('matches --brand Acme --top=5 --json')).toBe(
      'query --analysis=match_candidates --set=brand=Acme --set=top=5 --json',
    );
    expect(resolve('backfill history a.yaml --items 1,2')).toBe('sync a.yaml --backfill=1,2');
    expect(resolve('query changes')).toBe('query changes');
  });
});
