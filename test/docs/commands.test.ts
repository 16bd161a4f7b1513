import { expect, test } from 'vitest';
import { type Example, listExamples, listShellScripts, readShell } from './list-examples.js';
import { parseExample } from './parse-example.js';

const EXAMPLES = listExamples();

/** Code in a sentence that mentions an option without its value. */
const MENTIONS = new Set([
  'pricelake query --analysis',
  'pricelake query --fx',
  'pricelake spread --fx',
  'pricelake spread --product',
]);
const PLACEHOLDERS: Record<string, string> = { NAME: 'price_leaders' };

async function parse({ args, text }: Example): Promise<string[]> {
  return parseExample(args.map((word) => PLACEHOLDERS[word] ?? word)).then(
    () => [],
    (error: Error) => [`${text}: ${error.message}`],
  );
}

test.each([...EXAMPLES.keys()])('every command line in %s is valid', async (where) => {
  const faults: string[] = [];
  for (const example of EXAMPLES.get(where) ?? []) {
    if (!MENTIONS.has(example.text)) faults.push(...(await parse(example)));
  }
  expect(faults).toEqual([]);
});

test('a mistake in a command line is found, in shell lines of every kind', async () => {
  const parseLines = async (script: string) => (await Promise.all(readShell(script).map(parse))).flat().join();
  expect(await parseLines('pricelake deliver load snowflake --since 41 --full')).toContain("can't be used together");
  expect(await parseLines('cd x && A=1 pricelake watch # --list')).toContain('list');
  expect(await parseLines('source <(pricelake completion tcsh)')).toContain('Choices');
  expect(await parseLines('{ /usr/bin/pricelake sync --nope; }')).toContain('nope');
  expect(await parseLines('docker run -t pricelake \\\n  sync --lake')).toContain('lake');
  expect(await parseLines('pricelake sandbox --items -1')).toContain('--items');
});

test('no shell line with one of our commands is skipped', () => {
  for (const [page, scripts] of listShellScripts()) {
    for (const script of scripts) {
      const named = script.replaceAll(/#.*$/gmu, '').match(/(?<![\w.-])pricelake (?:[a-z]+(?=\s)|--version)/gu) ?? [];
      // Excludes names of folders and images, and addresses.
      const ours = named.filter((words) => !/ (?:pricelake|cd)$/u.test(words));
      expect(readShell(script).length, `${page}: ${script}`).toBe(ours.length);
    }
  }
});
