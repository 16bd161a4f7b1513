import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { expect, onTestFinished, test, vi } from 'vitest';
import { answerLines, findHistory, HISTORY_SIZE, promptQueries } from '../../src/cli/actions/query-prompt.js';
import { PricelakeError } from '../../src/io/errors.js';
import { openContext } from './open-context.js';

test('the prompt runs statements over several lines, continues after an error, and completes tables and columns', async () => {
  const ran: string[] = [];
  const run = async (sql: string) => {
    if (sql.includes('nothing')) throw new PricelakeError('query', 'no such table');
    ran.push(sql);
  };
  const asked: boolean[] = [];
  async function* type() {
    yield* [
      'SELECT 1',
      'FROM items;',
      'FROM nothing;',
      '.schema items',
      '.schema nope',
      '.tables',
      '',
      '.exit',
      'FROM late;',
    ];
  }
  const context = openContext();
  await answerLines(type(), context, run, (isOpen) => asked.push(isOpen));
  expect(ran).toEqual(['SELECT 1\nFROM items;', 'DESCRIBE "items"']);
  expect(asked.slice(0, 2)).toEqual([true, false]);
  expect(context.output.text).toContain('pricelake: no such table\nThere is no table named "nope"');
  expect(context.output.text).toContain('\nprice_spread\n');
});

/** Types into a prompt, ends it, and returns the statements that ran. */
async function typeInto(historyFile: string, typed: string): Promise<string[]> {
  const input = new PassThrough();
  const output = new PassThrough().resume();
  const ran: string[] = [];
  const run = async (sql: string) => ran.push(sql);
  const done = promptQueries(openContext(), run, () => {}, { input, output, historyFile });
  input.write(typed);
  input.end();
  await done;
  return ran;
}

const UP = '\u001b[A';
const CTRL_C = '\u0003';

async function makeFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'pricelake-prompt-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  return folder;
}

test('the prompt keeps its history between runs in a file that only its user can read', async () => {
  const file = findHistory({ XDG_STATE_HOME: await makeFolder() });
  expect(await typeInto(file, 'FROM items;\n\nFROM history;\n')).toEqual(['FROM items;', 'FROM history;']);
  expect(await readFile(file, 'utf8')).toBe('FROM items;\nFROM history;\n');
  expect((await stat(file)).mode & 0o777).toBe(0o600);
  expect(await typeInto(file, `${UP}${UP}\n`)).toEqual(['FROM items;']);
});

test('the history is bounded, and a file that others could read becomes private', async () => {
  const folder = await makeFolder();
  const file = findHistory({ XDG_STATE_HOME: folder });
  await typeInto(file, '');
  const many = Array.from({ length: HISTORY_SIZE + 5 }, (_, i) => `FROM t${i};\n`);
  await rm(file).then(() => writeFile(file, many.join(''), { mode: 0o644 }));
  expect(await typeInto(file, `${UP}\n`)).toEqual([`FROM t${HISTORY_SIZE + 4};`]);
  const kept = (await readFile(file, 'utf8')).trimEnd().split('\n');
  expect([kept.length, kept[0]]).toEqual([HISTORY_SIZE + 1, 'FROM t5;']);
  expect((await stat(file)).mode & 0o777).toBe(0o600);
});

test('without a state folder, the prompt works without history', async () => {
  const folder = await makeFolder();
  await writeFile(join(folder, 'pricelake'), 'a file');
  expect(await typeInto(findHistory({ XDG_STATE_HOME: folder }), 'FROM items;\n')).toEqual(['FROM items;']);
});

test('Ctrl-C discards the typed lines, and ends the prompt if nothing is typed', async () => {
  const historyFile = findHistory({ XDG_STATE_HOME: await makeFolder() });
  const input = new PassThrough();
  const output = new PassThrough();
  let shown = '';
  output.on('data', (chunk) => (shown += chunk));
  const ran: string[] = [];
  const run = async (sql: string) => ran.push(sql);
  const done = promptQueries(openContext(), run, () => {}, { input, output, historyFile });
  for (const typed of ['FROM nowh', CTRL_C, 'FROM items;\n', 'SELECT 1\n', 'FROM', CTRL_C, 'FROM sites;\n']) {
    const before = shown.length;
    input.write(typed);
    await vi.waitFor(() =>
      expect(shown.slice(before)).toMatch(typed.endsWith('\n') || typed === CTRL_C ? /> .*$|\.\.\. .*$/ : /./),
    );
  }
  await vi.waitFor(() => expect(ran).toEqual(['FROM items;', 'FROM sites;']));
  input.write(CTRL_C);
  await done;
});

test('Ctrl-C stops the running statement, and the prompt continues', async () => {
  const historyFile = findHistory({ XDG_STATE_HOME: await makeFolder() });
  const input = new PassThrough();
  const context = openContext();
  let stop: (error: Error) => void = () => {};
  const run = (sql: string) => {
    if (sql !== 'FROM slow;') return Promise.resolve(input.end());
    setImmediate(() => input.write(CTRL_C));
    return new Promise((_, refuse) => (stop = refuse));
  };
  const interrupt = () => {
    stop(new Error('INTERRUPT Error: Interrupted!'));
    input.write('FROM items;\n');
  };
  const output = new PassThrough().resume();
  const done = promptQueries(context, run, interrupt, { input, output, historyFile });
  input.write('FROM slow;\n');
  await done;
  expect(context.output.text).toBe('Stopped.\n');
});
