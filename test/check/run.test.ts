import { describe, expect, it } from 'vitest';
import type { Check, CheckSettings } from '../../src/check/check.js';
import { NAMED_TABLES } from '../../src/check/count-rows.js';
import { parseCheck } from '../../src/check/parse.js';
import { runChecks } from '../../src/check/run.js';
import { Database } from '../../src/sql/connection.js';
import { RelationGraph } from '../../src/sql/graph.js';

function writeCheck(name: string, sql: string, extra = ''): Check {
  const header = `-- name: ${name}\n-- severity: error\n-- description: d\n-- next: n\n${extra}`;
  return parseCheck(`${header}${sql}\n`, `${name}.sql`);
}

const few = writeCheck(
  'few',
  'SELECT * FROM range(20) t(n) WHERE n < $limit',
  '-- parameter: limit BIGINT default 7: how many\n',
);
const none = writeCheck('none', 'SELECT 1 WHERE false');

async function run(checks: Check[], settings: CheckSettings = {}) {
  const db = await Database.open();
  try {
    return await runChecks(new RelationGraph(db), NAMED_TABLES, checks, settings);
  } finally {
    await db.close();
  }
}

describe('a run of checks', () => {
  it('counts violations exactly and samples the first five rows', async () => {
    const [result] = await run([few]);
    expect(result).toMatchObject({ name: 'few', severity: 'error', violations: 7n });
    expect(result?.sample).toBe('[{"n":0},{"n":1},{"n":2},{"n":3},{"n":4}]');
    expect(result?.seconds).toBeGreaterThan(0);
    expect(result?.seconds).toBeLessThan(60);
  });

  it('samples the same five rows in whatever order the query returns them', async () => {
    const sql = (order: string) => `SELECT n, 'x' AS "1" FROM range(50000) t(n) ORDER BY ${order}`;
    const results = await run(['n', 'n DESC', 'hash(n)'].map((order, at) => writeCheck(`by_${at}`, sql(order))));
    const first = [0, 1, 2, 3, 4].map((n) => `{"n":${n},"1":"x"}`);
    expect(results.map(({ sample }) => sample)).toEqual(Array(3).fill(`[${first.join(',')}]`));
  });

  it('counts violations in more than one chunk of rows', async () => {
    const [result] = await run([writeCheck('many', 'SELECT 1 AS one FROM range(10001)')]);
    expect(result?.violations).toBe(10_001n);
  });

  it('shows int64 and decimals in the sample exactly', async () => {
    const sql =
      "SELECT 9223372036854775807 AS id, 99999999999999.9999::DECIMAL(18,4) AS price, ['a'] AS names, NULL AS gone";
    const [result] = await run([writeCheck('wide', sql)]);
    expect(result?.sample).toBe('[{"id":9223372036854775807,"price":99999999999999.9999,"names":["a"],"gone":null}]');
  });

  it('uses severity and parameters from the settings, and skips checks that are off', async () => {
    const settings: CheckSettings = { few: { severity: 'gate', parameters: { limit: 2 } }, none: { severity: 'off' } };
    const results = await run([few, none], settings);
    expect(results).toHaveLength(1);
    expect(results[0]).toMatchObject({ severity: 'gate', violations: 2n });
  });

  it('suggests the check or the parameter with a similar name', async () => {
    await expect(run([few, none], { nune: {} })).rejects.toMatchObject({
      code: 'config',
      message: 'checks.nune: no such check',
      facts: { hint: 'Did you mean none?' },
    });
    await expect(run([few], { few: { parameters: { limits: 2 } } })).rejects.toMatchObject({
      code: 'config',
      facts: { hint: 'Did you mean limit?' },
    });
  });

  it("doesn't repeat an unknown name unless it resembles a known one, because it may be a secret", async () => {
    const refused = (checks: Check[], settings: CheckSettings) => expect(run(checks, settings)).rejects;
    await refused([few, none], { secret: {} }).toMatchObject({
      ...{ code: 'config', message: 'checks: unknown check', facts: { hint: 'Known: few, none.' } },
    });
    await refused([none], { none: { parameters: { secret: 1 } } }).toMatchObject({
      message: 'checks.none.parameters: unknown parameter',
      facts: { hint: 'The check has no parameters.' },
    });
  });

  const typed = (type: string) =>
    writeCheck('typed', 'SELECT $x AS x, typeof($x) AS type', `-- parameter: x ${type} default 1: a value\n`);

  it.each([
    ['BIGINT', 1.5, 'an integer, not a number'],
    ['BIGINT', 2 ** 53, 'an integer, not a number'],
    ['BIGINT', '1', 'an integer, not text'],
    ['DOUBLE', '1', 'a number, not text'],
    ['DOUBLE', Number.POSITIVE_INFINITY, 'a number, not a number'],
    ['VARCHAR', 1, 'text, not a number'],
  ])('refuses the parameter %s %j', async (type, x, found) => {
    await expect(run([typed(type)], { typed: { parameters: { x } } })).rejects.toMatchObject({
      code: 'config',
      message: `checks.typed.parameters.x: must be ${found}`,
    });
  });

  it.each([
    ['BIGINT', -(2 ** 53) + 1, '-9007199254740991'],
    ['BIGINT', 7, '7'],
    ['DOUBLE', 7, '7'],
    ['DOUBLE', 0.1, '0.1'],
    ['VARCHAR', "it's 1", '"it\'s 1"'],
  ])('passes the parameter %s %j to the SQL unchanged', async (type, x, shown) => {
    const [result] = await run([typed(type)], { typed: { parameters: { x } } });
    expect(result?.sample).toBe(`[{"x":${shown},"type":"${type}"}]`);
  });

  it.each([
    'SELECT 1 AS a;',
    'SELECT 1 AS a -- one',
    'SELECT 1 AS a ; -- one\n ; -- "two"\n',
    "SELECT 1 AS a;\n--one's\n",
    "SELECT 1 AS a WHERE '--' = '--'",
    'SELECT 1 AS a;--one\n--two\n;',
  ])('runs SQL with any ending: %j', async (sql) => {
    expect((await run([writeCheck('ends', sql)]))[0]).toMatchObject({ violations: 1n, sample: '[{"a":1}]' });
  });

  it.each([
    ["'a;b'", 'a;b'],
    ["'it''s ; not'';'", "it's ; not';"],
    ["E'it\\'s;' || ';'", "it's;;"],
    ["e'\\\\' || ';'", '\\;'],
    ["concat('e', DATE'2026-01-01'::VARCHAR, ';')", 'e2026-01-01;'],
    ["$$1;'$$ || ';'", "1;';"],
    ["';' /* it's * / ; */ || ';' -- it's\n || ';' -- \"", ';;;'],
    ['";" FROM (SELECT 1 AS ";")', undefined],
  ])('keeps a semicolon in a literal, a name or a comment: %s', async (sql, text) => {
    const [result] = await run([writeCheck('own', `SELECT ${sql};\n`)]);
    expect(Object.values(JSON.parse(result?.sample ?? '[]')[0])).toEqual([text ?? 1]);
  });

  it.each([
    ['SELECT * FROM nowhere', /^broken\.sql:5: can't run the check: Catalog Error: [^\n]*nowhere[^\n]*$/u],
    [
      "SELECT * FROM read_csv('no/limits.csv')",
      /^broken\.sql:5: can't run the check: IO Error: No files .*no\/limits\.csv/u,
    ],
    ["SELECT CAST(n || 'x' AS BIGINT) FROM range(3) t(n)", /^broken\.sql(:5)?: can't run the check: Conversion Error/u],
    [
      'SELECT n + 9223372036854775807 AS m FROM range(3) t(n) WHERE m > 1',
      /^broken\.sql(:5)?: can't run the check: Out of Range/u,
    ],
  ])('fails with the file name if the SQL of a gate check fails: %s', async (sql, message) => {
    const gate = { broken: { severity: 'gate' as const } };
    await expect(run([writeCheck('broken', sql)], gate)).rejects.toMatchObject({
      code: 'config',
      message: expect.stringMatching(message),
    });
  });

  it('continues after a failing check that is no gate, and samples its error', async () => {
    const [broken, next] = await run([writeCheck('broken', "SELECT CAST('x' AS BIGINT)"), few]);
    expect(broken).toMatchObject({ violations: 1n, sample: expect.stringMatching(/broken\.sql.*Conversion Error/u) });
    expect(next).toMatchObject({ violations: 7n });
  });
});
