import { describe, expect, test } from 'vitest';
import { explore } from './commit-model.js';

describe('the model of landing, journal and commits', () => {
  test('has no state with a fault, whatever is killed, stopped or without power', () => {
    const { states, fault, way } = explore({});
    expect({ fault, way }).toEqual({});
    expect(states).toBeGreaterThan(1_000);
  });

  test.each([
    [
      'the journal names bytes before they are synced',
      { namesUnsynced: true },
      'the journal names bytes that a power loss may take',
    ],
    [
      'the cursor is committed before the rows',
      { cursorFirst: true },
      'items are not what was applied up to the cursor',
    ],
    ['a lock counts by time alone', { locksByTime: true }, 'items are not what was applied up to the cursor'],
    ['items are committed before history', { itemsFirst: true }, 'items are ahead of history'],
  ])('finds a fault if %s', (_, weak, fault) => {
    expect(explore(weak).fault).toBe(fault);
  });
});
