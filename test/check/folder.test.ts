import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { loadChecks } from '../../src/check/load.js';

const HEADER = '-- name: own\n-- severity: warn\n-- description: d\n-- next: n\n';
let folder: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'pricelake-checks-'));
});
afterEach(() => rm(folder, { recursive: true }));

/** Loads the checks with one file of the user's. */
async function load(text: string) {
  await writeFile(join(folder, 'own.sql'), text);
  return loadChecks(folder);
}

describe("a folder of the user's checks", () => {
  it('is loaded after the shipped checks', async () => {
    const shipped = await loadChecks();
    const checks = await load(
      `${HEADER}-- parameter: most DOUBLE default 5: highest price\nSELECT item_id FROM items WHERE price > $most\n`,
    );
    expect(checks.slice(0, -1)).toEqual(shipped);
    expect(checks.at(-1)).toMatchObject({ name: 'own', parameters: [{ name: 'most' }] });
  });

  it.each([
    [`${HEADER}SELECT item_id\nFROM items\nWHERE prise > 1`, /own\.sql:7: can't run the check: Binder Error: .*prise/u],
    [`${HEADER}SELECT item_id FORM items`, /own\.sql:5: can't run the check: Parser Error/u],
    [`${HEADER}SELECT 1 FROM itms`, /own\.sql:5: can't run the check: Catalog Error: .*items/u],
    [
      `${HEADER}DELETE FROM items`,
      /own\.sql: a check must be a single SELECT that returns violations, but this is DELETE$/u,
    ],
    [`${HEADER}SELECT 1; SELECT 2`, /own\.sql: a check must be a single SELECT .* this is 2 statements$/u],
    [HEADER, /own\.sql: the file contains no SQL$/u],
    [
      `${HEADER.replace('own', 'row_equation')}SELECT 1`,
      /own\.sql: the row_equation check is also defined in .*row_equation\.sql/u,
    ],
  ])('is refused before a run begins, with file and line: %j', async (text, message) => {
    await expect(load(text)).rejects.toMatchObject({ code: 'config', message: expect.stringMatching(message) });
  });

  it('counts over all rows, even if a check copies the scope of a shipped one', async () => {
    const checks = await load(`${HEADER}-- scope: row\nSELECT item_id FROM items`);
    expect(checks.at(-1)).toMatchObject({ name: 'own', scope: undefined });
  });

  it("is refused if it doesn't exist", async () => {
    await expect(loadChecks(join(folder, 'none'))).rejects.toThrow(/none: can't read checks from this folder$/u);
  });
});
