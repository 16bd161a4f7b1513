import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import type { RunEntry } from '../src/journal/run-entry.js';
import { RUN_FOLD, type RunState } from '../src/journal/run-state.js';
import { ENTRY_KINDS, RUN_STAGES, RUN_TRANSITIONS } from '../src/journal/transitions.js';
import { decodeApplied, encodeApplied } from '../src/lake/table-state.js';
import { findStandings } from '../src/run/open/open-tables.js';
import { TABLE_NAMES, type TableName } from '../src/tables/table.js';

/** SPEC.md without the padding of its tables. */
const spec = readFileSync('SPEC.md', 'utf8')
  .replaceAll(/ +\|/g, ' |')
  .replaceAll(/-{3,}/g, '---')
  .replaceAll(/\| {2,}/g, '| ');

test("the transition table in SPEC.md equals the fold's", () => {
  const rows = RUN_STAGES.map((stage) => [
    stage,
    ...ENTRY_KINDS.map((kind) => {
      const next = RUN_TRANSITIONS[stage][kind];
      return next === undefined ? '–' : next === stage ? '·' : next;
    }),
  ]);
  const lines = [['stage', ...ENTRY_KINDS], ['', ...ENTRY_KINDS].map(() => '---'), ...rows];
  const [, table] = /<!-- transitions -->\n([\s\S]*?)\n<!-- \/transitions -->/.exec(spec) ?? [];
  expect(table).toBe(lines.map((cells) => `| ${cells.join(' | ')} |`).join('\n'));
});

test('every stage of a run can be reached, and every stage except the last can be left', () => {
  const next = RUN_STAGES.map((stage) => Object.values(RUN_TRANSITIONS[stage]).filter((to) => to !== stage));
  expect(new Set(next.flat())).toEqual(new Set(RUN_STAGES.slice(1)));
  expect(RUN_STAGES.filter((_, index) => next[index]?.length === 0)).toEqual(['ended']);
});

const AT = '2026-11-20T06:00:00Z';
/** One entry of each kind. */
const OF_KIND: Record<(typeof ENTRY_KINDS)[number], RunEntry> = {
  begin: { type: 'begin', runNumber: 1n, runId: 'r', at: AT, pipeline: 'p', cursorFrom: null },
  note: { type: 'try', at: AT },
  ask: { type: 'feed.done', cursor: 1n, complete: true, at: AT, calls: 1 },
  land: { type: 'source.done', source: 's' },
  datasets: { type: 'datasets', readAt: AT, answer: '[]', calls: 1 },
  read: { type: 'hydrate.again', items: 1, calls: 1 },
  'hydrate.done': { type: 'hydrate.done', calls: 1 },
  compare: { type: 'facets', answer: '{}', calls: 1 },
  tally: { type: 'tally', received: 1n, written: 1n, rejected: 0n, deduplicated: 0n },
  waived: { type: 'waived', at: AT, checks: ['a'] },
  held: { type: 'held', checks: ['a'] },
  end: { type: 'end', at: AT },
};
/** The kinds of entries that lead a run through all stages. */
const PATH = ['begin', 'ask', 'datasets', 'hydrate.done', 'tally', 'held', 'end'] as const;

test('at each stage, the fold accepts and refuses each kind of entry as the table says', () => {
  let state: RunState = RUN_FOLD.start;
  for (const [index, stage] of RUN_STAGES.entries()) {
    expect(state.stage).toBe(stage);
    for (const kind of ENTRY_KINDS) {
      const [next, entry] = [RUN_TRANSITIONS[stage][kind], OF_KIND[kind]];
      expect(RUN_FOLD.refuse?.(state, entry) === undefined, `${kind} of a run that is ${stage}`).toBe(
        next !== undefined,
      );
      if (next !== undefined) expect(RUN_FOLD.step(state, entry).stage).toBe(next);
    }
    const step = PATH[index];
    if (step !== undefined) state = RUN_FOLD.step(state, OF_KIND[step]);
  }
  expect(state).toMatchObject({ stage: 'ended', endedAt: AT, begin: OF_KIND.begin, tally: OF_KIND.tally });
});

test("a table's standing follows from its log, and the commits of runs change it", () => {
  const txn = new Map<string, { version: bigint }>();
  const commit = (run: bigint) => {
    for (const [id, version] of encodeApplied({ run }, txn)) txn.set(id, { version });
  };
  const find = (version: bigint, run: bigint, foreign: Partial<Record<TableName, bigint>> = {}) => {
    const state = { version, applied: decodeApplied(txn) };
    const tables = Object.fromEntries(TABLE_NAMES.map((table) => [table, state])) as Record<TableName, typeof state>;
    return findStandings(tables, run, foreign).items;
  };
  const found = [find(-1n, 1n)];
  commit(1n);
  found.push(find(0n, 1n), find(0n, 2n), find(1n, 2n, { items: 1n }));
  commit(2n);
  found.push(find(2n, 2n), find(2n, 3n));
  expect(found).toEqual(['absent', 'committed', 'before', 'foreign', 'committed', 'before']);
});

/** The tests with the comment `// I3 of SPEC.md` above them, as lines of the checklist. */
function listClaims(): string[] {
  const files = readdirSync('test', { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.test.ts'));
  return files.flatMap((name) => {
    const file = path.posix.join('test', name);
    const marked = readFileSync(file, 'utf8').matchAll(/^ *\/\/ (I\d+) of SPEC\.md\n *test\(\s*(['"`])(.*?)\2,/gm);
    return [...marked].map(([, invariant, , title]) => `| ${invariant} | \`${file}\`: ${title} |`);
  });
}

test('the checklist contains exactly the tests that claim an invariant', () => {
  const [, checklist = ''] = /\n## Checklist\n([\s\S]*?)\n## Gaps\n/.exec(spec) ?? [];
  const lines = checklist.split('\n').filter((line) => /^\| I\d/.test(line));
  expect(lines.sort()).toEqual(listClaims().sort());
});

test('each invariant has a test, and each test an existing invariant', () => {
  const [, invariants = ''] = /\n## Invariants\n([\s\S]*?)\n## Constraints\n/.exec(spec) ?? [];
  const named = [...invariants.matchAll(/^\| (I\d+) /gm)].map(([, name]) => name);
  expect(new Set(listClaims().map((line) => line.split(' ')[1]))).toEqual(new Set(named));
});
