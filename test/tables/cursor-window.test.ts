import { expect, test } from 'vitest';
import { decodeApplied } from '../../src/lake/table-state.js';
import { findHeld, openWindow } from '../../src/tables/cursor-window.js';

/** Returns history and items at these cursors. */
const tablesAt = (history: bigint | undefined, items: bigint | undefined, ahead = 0n) => {
  const nothing = decodeApplied(new Map());
  return {
    history: { applied: { ...nothing, cursor: history, ahead } },
    items: { applied: { ...nothing, cursor: items } },
  };
};

test('a run by the feed starts at the cursor of history and items', () => {
  const window = openWindow(tablesAt(7n, 7n), { from: 7n, to: 9n, watermark: undefined });
  expect(window).toMatchObject({ known: 7n, from: 7n, applyFrom: 7n, to: 9n, isApplied: true });
  expect(findHeld(window)).toBe(7n);
});

test('on a first copy, complete rows include changes up to the watermark, and history gets all changes', () => {
  const window = openWindow(tablesAt(undefined, undefined), { from: 0n, to: 9n, watermark: 8n });
  expect(window).toMatchObject({ known: undefined, from: 0n, applyFrom: 8n, isApplied: false });
  expect(findHeld(window)).toBe(0n);
});

// I4 of SPEC.md
test('if a crash left history ahead of items, changes are applied from the cursor of items', () => {
  const window = openWindow(tablesAt(9n, 7n), { from: 9n, to: 12n, watermark: undefined });
  expect(window.applyFrom).toBe(7n);
  expect(findHeld(window)).toBe(9n);
});

test('history may contain changes ahead of the cursor', () => {
  expect(findHeld(openWindow(tablesAt(7n, 7n, 11n), { from: 7n, to: 9n, watermark: undefined }))).toBe(11n);
});
