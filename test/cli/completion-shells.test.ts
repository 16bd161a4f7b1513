import { execFile, spawnSync } from 'node:child_process';
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, expect, test } from 'vitest';
import { SCRIPTS, SHELLS, type Shell } from '../../src/cli/completion/scripts.js';
import { publishLake } from './lake-fixture.js';
import { runHere } from './pricelake.js';

const run = promisify(execFile);

/** Command lines up to the Tab key, and the values that a shell then offers. A line ends after a space or within a word. */
const TYPED: [line: string, values: string[]][] = [
  ['pricelake sandbox adv', ['advance']],
  ['pricelake schema price_spread', ['price_spread', 'price_spread_daily']],
  ['pricelake query --analysis price_l', ['price_leaders']],
  ['pricelake check --select gtin_check', ['gtin_check_digit']],
  ['pricelake spread --min', ['--min-shops']],
  ['pricelake spread --brand Big', ['Big Kettle: Co']],
  ['pricelake watch --own-site ', ['1', '2', '3']],
];

const lake = await publishLake([{ item_id: '5', site_id: '3', brand: "'Big Kettle: Co'" }]);
const folder = dirname(lake);
// The completions are computed once in this process, because a start for each Tab in each shell would take a minute.
for (const words of [...TYPED.map(([line]) => line.split(' ').slice(1)), ['spread', '--brand', '"Big']]) {
  const { stdout } = await runHere(['__complete', ...words], { cwd: folder });
  await writeFile(join(folder, `answer ${words.join(',')}`), stdout);
}
await mkdir(join(folder, 'bin'));
const answer = '#!/bin/sh\n[ "$1" = __complete ] && shift && IFS=, && exec cat "answer $*"\n';
await writeFile(join(folder, 'bin', 'pricelake'), answer, { mode: 0o755 });
for (const shell of SHELLS) await writeFile(join(folder, `completion.${shell}`), SCRIPTS[shell]);
afterAll(() => rm(folder, { recursive: true }));

const isInstalled = (shell: Shell) => spawnSync(shell, ['-c', 'exit']).status === 0;
const ifInstalled = (shell: Shell) => test.skipIf(!isInstalled(shell));

/** Runs the shell in the folder of the lake, where `./lake` is what commands read. */
async function runShell(shell: Shell, args: string[]): Promise<string> {
  const env = { HOME: folder, TERM: 'xterm', LANG: 'C.UTF-8', PATH: `${join(folder, 'bin')}:${process.env.PATH}` };
  return (await run(shell, args, { cwd: folder, env, timeout: 30_000 })).stdout;
}

ifInstalled('bash')('bash completes with the script (skipped without bash)', async () => {
  const ask = `source completion.bash
while IFS= read -r line; do
  COMP_WORDS=(); read -ra COMP_WORDS <<<"$line"; [[ $line == *' ' ]] && COMP_WORDS+=('')
  COMP_CWORD=$((\${#COMP_WORDS[@]} - 1)); _pricelake; (IFS=/; echo "\${COMPREPLY[*]}")
done <<<"$1"`;
  const offered = await runShell('bash', ['-c', ask, 'bash', TYPED.map(([line]) => line).join('\n')]);
  expect(offered.trimEnd().split('\n')).toEqual(TYPED.map(([, values]) => values.join('/').replaceAll(' ', '\\ ')));
  expect(await runShell('bash', ['-c', ask, 'bash', 'pricelake spread --brand "Big'])).toBe('Big Kettle: Co\n');
});

ifInstalled('fish')('fish completes with the script, with what each value means (skipped without fish)', async () => {
  const ask = 'source completion.fish; for line in $argv; echo (complete -C $line | string join /); end';
  const offered = await runShell('fish', ['-c', ask, ...TYPED.map(([line]) => line)]);
  const lines = offered.trimEnd().split('\n');
  expect(lines.map((line) => line.replaceAll(/\t[^/]*/g, '').split('/'))).toEqual(TYPED.map(([, values]) => values));
  expect(lines.at(-1)).toBe('1\tAlpha/2\tBeta/3\t茶店');
});

ifInstalled('zsh')('zsh completes with the script, and lists what values mean (skipped without zsh)', async () => {
  // Tab completes in a separate terminal; Ctrl-X then prints the line.
  const type = `zmodload zsh/zpty
zpty shell zsh -f -i
zpty -w shell 'autoload -U compinit; compinit -u -D; source completion.zsh; bindkey "^I" complete-word
report() { print -r -- "<line>$BUFFER</line>"; BUFFER= }; zle -N report; bindkey "^X" report; print "<rea""dy>"'
zpty -r shell out '*<ready>*'
for line; do
  zpty -n -w shell "$line"$'\\t'$'\\x18'
  zpty -r shell out '*</line>*'; print -r -- "$out<next>"
done`;
  const offered = await runShell('zsh', ['-f', '-c', type, 'zsh', ...TYPED.map(([line]) => line)]);
  const screens = offered.split('<next>\n').slice(0, -1);
  const lines = screens.map((screen) => /<line>(.*)<\/line>/su.exec(screen)?.[1]);
  expect(lines).toEqual([
    'pricelake sandbox advance ',
    'pricelake schema price_spread',
    'pricelake query --analysis price_leaders ',
    'pricelake check --select gtin_check_digit ',
    'pricelake spread --min-shops ',
    'pricelake spread --brand Big\\ Kettle:\\ Co ',
    'pricelake watch --own-site ',
  ]);
  expect(screens.at(-1)).toMatch(/1 +-- Alpha\W[\s\S]*3 +-- 茶店/u);
});
