import { expect, test } from 'vitest';
import { answerLines } from '../../src/cli/actions/query-prompt.js';
import { PricelakeError } from '../../src/errors/errors.js';
import { openContext } from './open-context.js';

test('the prompt runs statements over several lines, goes on behind an error, and knows tables and columns', async () => {
  const ran: string[] = [];
  const run = async (sql: string) => {
    if (sql.includes('nothing')) throw new PricelakeError('query', 'no such table');
    ran.push(sql);
  };
  const asked: boolean[] = [];
  async function* type() {
    yield* [
      'SELECT 1',
      'FROM items;',
      'FROM nothing;',
      '.schema items',
      '.schema nope',
      '.tables',
      '',
      '.exit',
      'FROM late;',
    ];
  }
  const context = openContext();
  await answerLines(type(), context, run, (isOpen) => asked.push(isOpen));
  expect(ran).toEqual(['SELECT 1\nFROM items;', 'DESCRIBE "items"']);
  expect(asked.slice(0, 2)).toEqual([true, false]);
  expect(context.output.text).toContain('pricelake: no such table\nThere is no table "nope"');
  expect(context.output.text).toContain('\nprice_spread\n');
});
