import { test } from 'vitest';
import { killAgain } from './kill-again.js';

test('a writer that splices a large file and is killed at any moment leaves a version whole', () =>
  killAgain('splice-forever.mjs', 20_000, [0, 15, 30, 45]));
