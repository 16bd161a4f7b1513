import { test } from 'vitest';
import { killAgain } from './kill-again.js';

// I1 of SPEC.md
test('a writer that is killed at any moment leaves a version whole, with its transaction, and the next one continues', () =>
  killAgain('rewrite-forever.mjs', 300, [0, 6, 12, 18, 24, 30]));
