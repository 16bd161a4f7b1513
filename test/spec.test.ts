import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import type { JournalEntry } from '../src/landing/journal-entry.js';
import { RUN_EVENTS, RUN_STATES, RUN_TRANSITIONS, type RunState, readRunState } from '../src/run/run-state.js';

/** Without the padding of its tables. */
const spec = readFileSync('SPEC.md', 'utf8')
  .replaceAll(/ +\|/g, ' |')
  .replaceAll(/-{3,}/g, '---')
  .replaceAll(/\| {2,}/g, '| ');

function drawTransitions(): string {
  const cell = (state: RunState, event: (typeof RUN_EVENTS)[number]) => {
    const next = RUN_TRANSITIONS[state][event];
    if (next === 'impossible') return '–';
    return next === 'stays' ? '·' : next.join(', ');
  };
  const rows = RUN_STATES.map((state) => [state, ...RUN_EVENTS.map((event) => cell(state, event))]);
  const lines = [['state', ...RUN_EVENTS], ['', ...RUN_EVENTS].map(() => '---'), ...rows];
  return lines.map((cells) => `| ${cells.join(' | ')} |`).join('\n');
}

test('the transition table of SPEC.md is that of the code', () => {
  const [, table] = /<!-- transitions -->\n([\s\S]*?)\n<!-- \/transitions -->/.exec(spec) ?? [];
  expect(table).toBe(drawTransitions());
});

test('every state of a run can be reached, and every one but the last is left', () => {
  const next = RUN_STATES.map((state) =>
    RUN_EVENTS.flatMap((event) => {
      const cell = RUN_TRANSITIONS[state][event];
      return typeof cell === 'string' ? [] : cell.filter((to) => to !== state);
    }),
  );
  expect(new Set(next.flat())).toEqual(new Set(RUN_STATES));
  const last = RUN_STATES.filter((_, index) => next[index]?.length === 0);
  expect(last).toEqual(['ended']);
});

test('the journal of a run goes through the states one after the other', () => {
  const types: JournalEntry['type'][] = [
    ...['begin', 'decision', 'events.done', 'try', 'watermark', 'export.begin', 'export.done', 'feed.page'],
    ...['feed.done', 'datasets', 'normalize', 'hydrate.done', 'sample.done', 'tally', 'held', 'try', 'end'],
  ] as JournalEntry['type'][];
  const states = types.map((_, index) =>
    readRunState({ entries: types.slice(0, index + 1).map((type) => ({ type })) }),
  );
  expect([...new Set(states)]).toEqual(['begun', 'asked', 'landed', 'settled', 'held', 'ended']);
  for (const [index, to] of states.slice(1, -1).entries()) {
    const from = states[index] as RunState;
    expect(RUN_TRANSITIONS[from]['entry journaled']).toContain(to);
  }
  expect(readRunState({ entries: [{ type: 'begin' }, { type: 'tally' }] }, true)).toBe('publishing');
});

/** Tests with the comment `// I3 of SPEC.md` above them, as lines of the checklist. */
function listClaims(): string[] {
  const files = readdirSync('test', { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.test.ts'));
  return files.flatMap((name) => {
    const file = path.posix.join('test', name);
    const marked = readFileSync(file, 'utf8').matchAll(/^ *\/\/ (I\d+) of SPEC\.md\n *test\(\s*(['"`])(.*?)\2,/gm);
    return [...marked].map(([, invariant, , title]) => `| ${invariant} | \`${file}\`: ${title} |`);
  });
}

test('each test that claims an invariant is in the checklist, and each line of the checklist is such a test', () => {
  const [, checklist = ''] = /\n## Checklist\n([\s\S]*?)\n## Gaps\n/.exec(spec) ?? [];
  const lines = checklist.split('\n').filter((line) => /^\| I\d/.test(line));
  expect(lines.sort()).toEqual(listClaims().sort());
});

test('each invariant has a test, and each test an invariant', () => {
  const [, invariants = ''] = /\n## Invariants\n([\s\S]*?)\n## Constraints\n/.exec(spec) ?? [];
  const named = [...invariants.matchAll(/^\| (I\d+) /gm)].map(([, name]) => name);
  expect(new Set(listClaims().map((line) => line.split(' ')[1]))).toEqual(new Set(named));
});
