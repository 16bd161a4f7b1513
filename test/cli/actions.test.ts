import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { loadChecks } from '../../src/check/load.js';
import { runCheckCommand } from '../../src/cli/actions/run-check.js';
import { runQuery } from '../../src/cli/actions/run-query.js';
import { showStatus } from '../../src/cli/actions/show-status.js';
import { toJsonText } from '../../src/cli/json-text.js';
import { realIo } from '../../src/io/real-io.js';
import { EventStore } from '../../src/wings/webhook/event-store.js';
import { CREDIT, publishLake } from './lake-fixture.js';
import { act, openContext } from './open-context.js';

const CHECKS = (await loadChecks()).length;

const lake = await publishLake();
const faulty = await publishLake([{ item_id: '5', gtin: "'4006381333932'", price: '-1' }]);
afterAll(async () => {
  for (const path of [lake, faulty]) await rm(dirname(path), { recursive: true });
});

describe('query', () => {
  const request = { lake, memory: '1GB' };

  it('streams exact rows in its one JSON line', async () => {
    const { text } = await act(
      runQuery,
      { ...request, sql: 'SELECT item_id FROM items ORDER BY item_id LIMIT 1' },
      openContext(true),
    );
    expect(text).toBe(
      `{"ok":true,"columns":[{"name":"item_id","type":"BIGINT"}],"rows":[{"item_id":9007199254740993}],"row_count":1,"attribution":["${CREDIT}"]}\n`,
    );
  });

  it('reads the SQL from a file and writes the result to another file', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'query-'));
    const [file, output] = [join(folder, 'q.sql'), join(folder, 'n.csv')];
    await writeFile(file, 'SELECT count(*) AS n FROM items;\n');
    const { report, text } = await act(runQuery, { ...request, file, format: 'csv', output }, openContext(true));
    const metadata = `${output}-metadata.json`;
    expect(report).toEqual({ rows: 1n, file: output, format: 'csv', attribution: [CREDIT], metadata });
    expect(await readFile(output, 'utf8')).toBe('n\r\n4\r\n');
    expect(text).toBe('');
    await rm(folder, { recursive: true });
  });

  it.each([
    ['selec', 'query', 'Parser Error: syntax error at or near "selec"'],
    ['FROM itms', 'query', 'Catalog Error: Table with name itms does not exist! Did you mean "items"?'],
    ["FROM read_text('/etc/passwd')", 'query', /^Permission Error: Cannot access file/u],
    ["FROM enable_profiling(save_location='x.json')", 'query', /^enable_profiling\(\) is not allowed here$/u],
    ["FROM enable_logging(storage='file')", 'query', /^enable_logging\(\) is not allowed here$/u],
    ["SELECT 'x'::BIGINT", 'query', /^Conversion Error: Could not convert string 'x' to INT64$/u],
    [undefined, 'usage', /^pass the SQL in one way/u],
  ])('refuses %j with one clear line', async (sql, code, message) => {
    await expect(runQuery({ ...request, sql }, openContext())).rejects.toMatchObject({
      code,
      message: typeof message === 'string' ? message : expect.stringMatching(message),
    });
  });

  it('refuses to write both rows and JSON to stdout', async () => {
    const both = runQuery({ ...request, sql: 'SELECT 1', format: 'csv' }, openContext(true));
    await expect(both).rejects.toMatchObject({ code: 'usage' });
  });

  it('stays within its memory limit', async () => {
    const sql = 'SELECT list(range) FROM range(100000000)';
    await expect(runQuery({ lake, memory: '64MB', sql }, openContext())).rejects.toMatchObject({
      code: 'query',
      message: expect.stringMatching(/^Out of Memory Error/u),
    });
  });

  it.each([0, 300])('stops %i ms after the signal, whatever the statement does', async (delay) => {
    const controller = new AbortController();
    const reason = new Error('stopped');
    if (delay === 0) controller.abort(reason);
    else setTimeout(() => controller.abort(reason), delay);
    const sql = 'SELECT count(*) FROM range(100000000) a, range(100000000) b WHERE (a.range * b.range) % 7 = 3';
    await expect(runQuery({ ...request, sql }, { ...openContext(), signal: controller.signal })).rejects.toThrow();
  });
});

describe('check', () => {
  it('passes on a sound lake', async () => {
    const { text, report } = await act(runCheckCommand, { lake, failOn: 'warn' });
    expect(text).toBe(`All ${CHECKS} checks passed.\n`);
    expect(report?.checks).toHaveLength(CHECKS);
  });

  it('with --all lists every check, starting with those that found violations', async () => {
    const { text } = await act(runCheckCommand, { lake: faulty, failOn: 'gate', all: true });
    const [, , first, second, third, ...others] = text.split('\n').slice(0, CHECKS + 2);
    expect(first).toMatch(/^FAILED {2}error +price_not_negative +1$/u);
    expect(second).toMatch(/^FAILED {2}warn +gtin_check_digit +1$/u);
    expect([third, ...others].every((line) => line?.startsWith('ok '))).toBe(true);
    expect(others).toHaveLength(CHECKS - 3);
  });

  it('fails with the violations and a next step for each check', async () => {
    const context = openContext();
    const message = `1 of ${CHECKS} checks failed: price_not_negative`;
    const failure = runCheckCommand({ lake: faulty, failOn: 'error' }, context);
    await expect(failure).rejects.toMatchObject({ code: 'check_failed', message });
    const { text } = context.output;
    expect(text).toMatch(/^error price_not_negative: 1 price is below zero\.\n→ Look at the item's page;/u);
    expect(text).toContain('\nwarn  gtin_check_digit: 1 GTIN has a wrong length or check digit.\n');
    expect(text).toMatch(/^item_id .*\n─.*\n {6}5 /mu);
    expect(text).not.toMatch(/items_key_unique|^ok /mu);
    expect(text.endsWith(`\n2 of ${CHECKS} checks found violations. The others passed; --all lists them.\n`)).toBe(
      true,
    );
  });

  it('fails by the requested severity, among the selected checks', async () => {
    await runCheckCommand({ lake: faulty, failOn: 'gate' }, openContext());
    await runCheckCommand({ lake: faulty, failOn: 'error', select: ['gtin_check_digit'] }, openContext());
    const strict = runCheckCommand({ lake: faulty, failOn: 'warn', select: ['gtin_check_digit'] }, openContext(true));
    const error = await strict.catch((e) => e);
    expect(toJsonText(error.facts.checks)).toContain('"sample":[{"gtin":"4006381333932","items":1,"first_item_id":5}]');
  });

  it('takes the lake, severities, thresholds and checks from the pipeline file, without needing its secrets', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'pricelake-own-checks-'));
    const own = '-- name: no_lamps\n-- severity: warn\n-- description: d\n-- next: Sell lamps elsewhere.\n';
    await writeFile(join(folder, 'no_lamps.sql'), `${own}SELECT item_id FROM items WHERE product_id = 'lamp-1'`);
    const file = join(folder, 'prices.yaml');
    const source = `source: { baseUrl: "\${NOT_SET}", apiKey: "\${NOT_SET}" }`;
    const checks = 'checks: { price_not_negative: { severity: off }, gtin_check_digit: { severity: gate } }';
    await writeFile(file, `${source}\nlake: { path: ${faulty} }\nchecksFolder: ${folder}\n${checks}\n`);
    const context = openContext();
    await expect(runCheckCommand({ pipeline: file, failOn: 'gate' }, context)).rejects.toMatchObject({
      message: `1 of ${CHECKS} checks failed: gtin_check_digit`,
    });
    expect(context.output.text).toContain('warn  no_lamps: 1 violation: d\n→ Sell lamps elsewhere.\n');
    await runCheckCommand({ pipeline: file, lake, failOn: 'warn', select: ['row_equation'] }, openContext());
    await rm(folder, { recursive: true });
  });

  it('suggests the check with a similar name', async () => {
    const failure = runCheckCommand({ lake, failOn: 'error', select: ['gtin_check_digits'] }, openContext());
    await expect(failure).rejects.toMatchObject({ code: 'usage', facts: { hint: 'Did you mean gtin_check_digit?' } });
  });
});

describe('status', () => {
  it('shows the run, the cursor, the tables and the last runs', async () => {
    const { text, report } = await act(showStatus, { lake });
    expect(text).toMatch(/run 1 \(r1\) of prices, published 2026-11-20T09:00:00.000Z, cursor 42/u);
    expect(text).toMatch(/items +0 +4 +3 +\d/u);
    expect(text).toMatch(/1 +snapshot +2026-11-20T08:59:00Z +60 +7/u);
    expect(JSON.parse(toJsonText(report))).toMatchObject({
      published: true,
      runId: 'r1',
      runNumber: 1,
      cursor: 42,
      runs: [{ run: 1, cursor_to: 42 }],
      webhooks: { waiting: 0, setAside: 0 },
    });
    expect(text).not.toContain('webhook');
  });

  it('shows waiting webhook events and unreadable bodies', async () => {
    const store = await EventStore.open(faulty, realIo);
    await store.land('evt_1', Buffer.from('{}'));
    await store.land('evt_2', Buffer.from('{}'));
    await store.setAside(Buffer.from('?'));
    const { text, report } = await act(showStatus, { lake: faulty });
    expect(report).toMatchObject({ webhooks: { waiting: 2, setAside: 1 } });
    expect(text).toContain('webhook events for the next sync: 2 · unreadable, moved to _pricelake/webhooks/aside: 1\n');
  });
});
