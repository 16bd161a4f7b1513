import { describe, expect, test } from 'vitest';
import { toJsonText } from '../../src/cli/json-text.js';
import { describeReport, formatReport } from '../../src/cli/run-report.js';
import { chooseStyle } from '../../src/cli/style.js';
import type { RunReport } from '../../src/run/sync.js';

function reportOf(given: Partial<RunReport['row']> = {}): RunReport {
  const row = {
    run_id: 'r7',
    run_number: 7n,
    mode: 'snapshot',
    reason: 'a complete comparison is due',
    seconds: 12.34,
    received: 1200n,
    written: 30n,
    rejected: 1n,
    deduplicated: 1169n,
    items: 1150n,
    cursor_from: null,
    cursor_to: 9223372036854775807n,
    calls: 9n,
    export_rows: 1150n,
    overage: false,
    overage_blocks: 0n,
    differences: 3n,
    difference_columns: '{"brand":1,"price":2}',
    missed: 2n,
    gone: 4n,
    sampled: 10n,
    sample_mismatches: 0n,
    mismatch_bound: 0.2589,
    sample_differences: '[]',
    product_differences: '[]',
    facet_differences: '[]',
    schema_drift: '[]',
    ...given,
  } as RunReport['row'];
  return { published: true, resumed: false, row, checks: [] };
}

describe('the report of a run', () => {
  test('shows the changes, the cost, the proofs, what needs attention and the next command', () => {
    expect(formatReport(reportOf(), './lake')).toBe(
      `Run 7 (snapshot: a complete comparison is due) published to ./lake in 12.3 s.
  changed    1,200 rows = 30 written + 1 rejected + 1,169 deduplicated
             1,150 items, cursor 9223372036854775807
             repaired 3 items that differed: brand 1, price 2
             added 2 items that no change had reported
             marked 4 items as gone
  cost       9 calls, 1,150 export rows, overage: none
  proof      0 of 0 checks passed
             10 items read again, 0 differ
  attention  1 row rejected
  next       pricelake query "FROM rejects WHERE run_id = 'r7'" --lake ./lake
`,
    );
  });

  test('wraps its first line between words, and keeps a number with its unit', () => {
    expect(formatReport(reportOf(), './a-longer-lake')).toMatch(
      /^Run 7 \(snapshot: a complete comparison is due\) published to \.\/a-longer-lake in\n {2}12\.3 s\.\n/,
    );
  });

  test('omits comparisons that found nothing or were not made', () => {
    const calm = { rejected: 0n, differences: 0n, missed: 0n, gone: 0n, sampled: 0n };
    const text = formatReport(reportOf(calm), './lake');
    expect(text).not.toMatch(/repaired|added|marked|again|attention|next/);
    expect(formatReport(reportOf({ cursor_to: null }), './lake')).toContain('no cursor');
    expect(formatReport(reportOf({ ...calm, run_number: 1n }), './lake')).toMatch(
      /\n {2}next {7}pricelake spread --lake/,
    );
  });

  test('shows check violations, waived gates and billed overage, in words and in colors', () => {
    const check = { severity: 'gate', name: 'rejects_few', violations: 12n, waived: true } as RunReport['checks'][0];
    const report = { ...reportOf({ overage: true, overage_blocks: 2n }), checks: [check] };
    const text = formatReport(report, './lake');
    expect(text).toContain('gate rejects_few: 12 rows, waived\n');
    expect(text).toContain('overage: up to 2 blocks of 10,000 rows');
    expect(text).toContain('pricelake check --lake ./lake\n');
    const colored = formatReport(report, './lake', { style: chooseStyle({}, { color: true, env: {} }) });
    expect(colored).toContain('\u001b[35moverage: up to 2 blocks');
    expect(colored).toContain('\u001b[33m, waived');
  });

  test("shows what a polling run couldn't establish, even if nothing changed", () => {
    const report = reportOf({ listing_unknown: 1_234n, reason: 'counts differ on Shop\u001b[2J 1' });
    const told = 'not caught up: up to 1,234 items may no longer be listed';
    for (const published of [true, false]) {
      const text = formatReport({ ...report, published }, './lake').replaceAll(/\s+/gu, ' ');
      expect(text).toContain(told);
      expect(text).toContain('counts differ on Shop');
      expect(text).not.toContain('\u001b');
    }
  });

  test('points to the items that may be out of date, even if nothing changed', () => {
    const text = formatReport({ ...reportOf({ stale_items: 2n }), published: false }, './lake');
    expect(text).toContain('not caught up: 2 items may be out of date');
    expect(text).toContain('next       pricelake query "FROM stale_items" --lake ./lake\n');
  });

  test('is one JSON object for programs, with cursors as text and differences as JSON', () => {
    const json = JSON.parse(toJsonText(describeReport(reportOf(), './lake'))) as Record<string, unknown>;
    expect(json).toMatchObject({
      cursor_from: null,
      cursor_to: '9223372036854775807',
      difference_columns: { brand: 1, price: 2 },
      sample_differences: [],
    });
  });

  test('uses snake case, and seconds with three decimals', () => {
    const check = { name: 'few', severity: 'warn', violations: 0n, waived: false } as RunReport['checks'][0];
    const histories = { asked: 1, left: 0, runId: 'r' };
    const report = { ...reportOf({ seconds: 0.015179839431900004 }), checks: [check], histories };
    const text = toJsonText(describeReport(report, './lake'));
    expect(JSON.parse(text)).toMatchObject({
      seconds: 0.015,
      checks: [{ let_through: false }],
      histories: { run_id: 'r' },
    });
    expect(text).not.toMatch(/"\w*[A-Z]\w*":/u);
  });
});
