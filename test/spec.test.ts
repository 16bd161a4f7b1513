import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { decodeApplied, encodeApplied } from '../src/lake/table-state.js';
import type { JournalEntry } from '../src/landing/journal-entry.js';
import {
  EVENTS,
  type Event,
  type Next,
  RUN_STATES,
  RUN_TRANSITIONS,
  type RunState,
  readRunState,
} from '../src/run/run-state.js';
import { readTableStanding, TABLE_STANDINGS, TABLE_TRANSITIONS } from '../src/run/table-standing.js';

/** Without the padding of its tables. */
const spec = readFileSync('SPEC.md', 'utf8')
  .replaceAll(/ +\|/g, ' |')
  .replaceAll(/-{3,}/g, '---')
  .replaceAll(/\| {2,}/g, '| ');

type Transitions<State extends string> = Record<State, Record<Event, Next<State>>>;

function drawTransitions<State extends string>(states: readonly State[], transitions: Transitions<State>): string {
  const cell = (next: Next<State>) => {
    if (next === 'impossible') return '–';
    return next === 'stays' ? '·' : next.join(', ');
  };
  const rows = states.map((state) => [state, ...EVENTS.map((event) => cell(transitions[state][event]))]);
  const lines = [['state', ...EVENTS], ['', ...EVENTS].map(() => '---'), ...rows];
  return lines.map((cells) => `| ${cells.join(' | ')} |`).join('\n');
}

test.each([
  ['a run', 'transitions', drawTransitions(RUN_STATES, RUN_TRANSITIONS)],
  ['a table', 'table transitions', drawTransitions(TABLE_STANDINGS, TABLE_TRANSITIONS)],
])('the transition table of %s in SPEC.md is that of the code', (_, mark, drawn) => {
  const [, table] = new RegExp(`<!-- ${mark} -->\\n([\\s\\S]*?)\\n<!-- /${mark} -->`).exec(spec) ?? [];
  expect(table).toBe(drawn);
});

/** The other states that may follow each. */
function listNext<State extends string>(states: readonly State[], transitions: Transitions<State>): State[][] {
  return states.map((state) =>
    EVENTS.flatMap((event) => {
      const cell = transitions[state][event];
      return typeof cell === 'string' ? [] : cell.filter((to) => to !== state);
    }),
  );
}

test('every state of a run can be reached, and every one but the last is left', () => {
  const next = listNext(RUN_STATES, RUN_TRANSITIONS);
  expect(new Set(next.flat())).toEqual(new Set(RUN_STATES));
  const last = RUN_STATES.filter((_, index) => next[index]?.length === 0);
  expect(last).toEqual(['ended']);
});

test('every state of a table is left, and every one but the first can be reached', () => {
  const next = listNext(TABLE_STANDINGS, TABLE_TRANSITIONS);
  expect(next.map((to) => to.length > 0)).not.toContain(false);
  expect(new Set(next.flat())).toEqual(new Set(['before', 'committed', 'foreign']));
});

test('what the commits of runs note makes a table go through its states', () => {
  const txn = new Map<string, { version: bigint }>();
  const commit = (run: bigint) => {
    for (const [id, version] of encodeApplied({ run }, txn)) txn.set(id, { version });
  };
  const read = (version: bigint, run: bigint, isForeign = false) =>
    readTableStanding({ version, applied: decodeApplied(txn) }, run, isForeign);
  const states = [read(-1n, 1n)];
  commit(1n);
  states.push(read(0n, 1n), read(0n, 2n), read(1n, 2n, true));
  commit(2n);
  states.push(read(2n, 2n), read(2n, 3n));
  expect(states).toEqual(['absent', 'committed', 'before', 'foreign', 'committed', 'before']);
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
