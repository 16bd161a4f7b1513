import { expect, test } from 'vitest';
import { toJsonText } from '../../../src/cli/json-text.js';
import { TOOLS } from '../../../src/cli/mcp/serve.js';
import { renameMembers } from '../../../src/cli/member-names.js';
import { toOutputSchema } from '../../../src/cli/results/kinds.js';
import { listOutputSchemas } from '../../../src/cli/results/results.js';

const SNAKE = /^[a-z][a-z0-9]*(?:_[a-z0-9]+)*$/u;

/** The names of all members that a JSON Schema describes, at every depth. */
function listMembers(schema: unknown): string[] {
  if (Array.isArray(schema)) return schema.flatMap(listMembers);
  if (typeof schema !== 'object' || schema === null) return [];
  return Object.entries(schema).flatMap(([keyword, value]) =>
    keyword === 'properties'
      ? Object.entries(value as object).flatMap(([name, one]) => [name, ...listMembers(one)])
      : listMembers(value),
  );
}

test("members in every command's JSON use snake case, like columns", () => {
  const wrong = Object.entries(listOutputSchemas()).map(([command, schema]) => [
    command,
    listMembers(schema).filter((name) => !SNAKE.test(name)),
  ]);
  expect(wrong.length).toBeGreaterThan(20);
  expect(wrong.filter(([, names]) => names?.length !== 0)).toEqual([]);
  expect(listMembers(listOutputSchemas().plan)).toContain('export_rows');
});

test.each(TOOLS.map((tool) => [tool.name, tool] as const))(
  'members in the output of the tool %s use snake case too',
  (_, { output }) => {
    const names = listMembers(toOutputSchema(output, 'text'));
    expect(names.length).toBeGreaterThan(0);
    expect(names.filter((name) => !SNAKE.test(name))).toEqual([]);
  },
);

test('column names that a query chose are kept, in a report and in nested values', () => {
  const report = { rowCount: 1n, rows: [new Map<string, unknown>([['minPrice', { of: new Map([['A', 1]]) }]])] };
  expect(toJsonText(renameMembers(report))).toBe('{"row_count":1,"rows":[{"minPrice":{"of":{"A":1}}}]}');
});
