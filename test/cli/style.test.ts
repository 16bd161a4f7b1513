import { describe, expect, it } from 'vitest';
import { chooseLogLevel } from '../../src/cli/run-command.js';
import { chooseStyle, PLAIN, paint } from '../../src/cli/style.js';

describe('colors', () => {
  const terminal = { isTTY: true };
  it.each([
    ['on a terminal', terminal, undefined, {}, true],
    ['without a terminal', {}, undefined, {}, false],
    ['with NO_COLOR', terminal, undefined, { NO_COLOR: '1' }, false],
    ['with an empty NO_COLOR', terminal, undefined, { NO_COLOR: '' }, true],
    ['on a dumb terminal', terminal, undefined, { TERM: 'dumb' }, false],
    ['with FORCE_COLOR', {}, undefined, { FORCE_COLOR: '1', NO_COLOR: '1' }, true],
    ['with FORCE_COLOR=0', terminal, undefined, { FORCE_COLOR: '0' }, false],
    ['with --no-color', terminal, false, { FORCE_COLOR: '1' }, false],
    ['with --color', {}, true, { NO_COLOR: '1' }, true],
  ] as const)('are chosen %s', (_when, stream, color, env, expected) => {
    expect(chooseStyle(stream, { color, env }) !== PLAIN).toBe(expected);
  });

  it("don't change the text", () => {
    const style = chooseStyle({}, { color: true, env: {} });
    const painted = paint('FAILED gate\nok\n', [/^FAILED/gmu, style.bad]);
    expect(painted).toBe('\u001b[31mFAILED\u001b[39m gate\nok\n');
  });
});

it.each([
  [{}, {}, 'info'],
  [{ quiet: true }, {}, 'warn'],
  [{ verbose: 1 }, {}, 'debug'],
  [{ verbose: 2 }, {}, 'trace'],
  [{ verbose: 0 }, { PRICELAKE_DEBUG: '1' }, 'debug'],
])('with %j and %j, events of level %s and above are logged', (argv, env, level) => {
  expect(chooseLogLevel(argv, env)).toBe(level);
});
