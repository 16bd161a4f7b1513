import { execFileSync } from 'node:child_process';
import { expect, test } from 'vitest';
import { buildProgram } from '../../src/cli/program.js';
import { MAIN } from './pricelake.js';

/** Help as the packages of yargs lay it out. */
function readHelp(args: string[]): Promise<string> {
  return new Promise((resolve) => {
    void buildProgram(args).parse(args, {}, (_error: unknown, _argv: unknown, output: string) => resolve(output));
  });
}

test.each([[['--help']], [['sync', '--help']], [['spread', '--help']]])(
  'the bundle, which measures texts by itself, lays out %j as the packages do',
  async (args) => {
    const shown = execFileSync(process.execPath, [MAIN, ...args], { encoding: 'utf8' });
    expect(shown.trim()).toBe((await readHelp(args)).trim());
  },
);
