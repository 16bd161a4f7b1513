import { expect, test } from 'vitest';
import { Trouble } from '../../src/api/retry-policy.js';

const NOW = new Date('2026-11-20T12:00:00Z');
const setback = { kind: 'fault', repeatable: true } as const;

test('the error that callers see says how often was tried, and keeps facts and cause', () => {
  const cause = new Error('reset');
  const trouble = new Trouble(setback, 'no answer', { host: 'h' }, { cause });
  const error = trouble.giveUp({ retry: false, because: 'attempts' }, 3, NOW);
  expect(error).toMatchObject({ code: 'unavailable', message: 'no answer, after 3 attempts', cause });
  expect(error.facts).toStrictEqual({ host: 'h', attempts: 3 });
});

test('one attempt needs no count, and no cause is no cause', () => {
  const error = new Trouble(setback, 'no answer', {}).giveUp({ retry: false, because: 'attempts' }, 1, NOW);
  expect(error.message).toBe('no answer');
  expect(error).not.toHaveProperty('cause');
});

test('a wait that is too long is an end that says when to come back', () => {
  const decision = { retry: false, because: 'wait_too_long', waitMs: 600_000 } as const;
  const error = new Trouble(setback, 'busy', {}).giveUp(decision, 1, NOW);
  expect(error.message).toBe('busy; the service asks to come back at 2026-11-20T12:10:00.000Z');
  expect(error.facts.nextRunAt).toEqual(new Date('2026-11-20T12:10:00Z'));
});
