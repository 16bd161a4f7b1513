import { existsSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { REVIVED_BUGS } from './revived-bugs.js';

test.each(REVIVED_BUGS)('the code still has the place of a defect: $name', ({ file, find }) => {
  const code = existsSync(file) ? readFileSync(file, 'utf8') : '';
  expect(code.split(find)).toHaveLength(2);
});

const held = REVIVED_BUGS.flatMap(({ heldBy = [] }) => heldBy);
test.each(held)('the test that holds a defect exists: %s', (heldBy) => {
  const [, file = '', name = ''] = /(test\/\S+\.ts), (.*)$/.exec(heldBy) ?? [];
  expect(readFileSync(file, 'utf8')).toContain(name);
  expect(name).not.toBe('');
});
