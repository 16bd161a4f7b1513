import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { loadChecks } from '../../src/check/load.js';
import { parseCheck } from '../../src/check/parse.js';

const HEADER = '-- name: a\n-- severity: warn\n-- description: d\n-- next: n\n';

describe('a check file', () => {
  it('declares the rows from which its violations follow', () => {
    const scopeOf = (line: string) => parseCheck(`${HEADER}${line}SELECT 1`, 'a.sql').scope;
    expect(scopeOf('')).toBeUndefined();
    expect(scopeOf('-- scope: row\n')).toBe('row');
    expect(scopeOf('-- scope: site_id, url\n')).toEqual(['site_id', 'url']);
  });

  it('is parsed into its header, its parameters and its SQL', () => {
    const text = `${HEADER}-- parameter: share DOUBLE default 0.5: largest share\nSELECT 1 WHERE $share > 1\n`;
    expect(parseCheck(text, 'a.sql')).toEqual({
      name: 'a',
      severity: 'warn',
      description: 'd',
      next: 'n',
      parameters: [{ name: 'share', type: 'DOUBLE', default: 0.5, meaning: 'largest share' }],
      sql: text,
      file: 'a.sql',
    });
  });

  it('may have Windows line endings, several parameters, and other comments after its header', () => {
    const parameters = ['share', 'most'].map((name) => `-- parameter: ${name} DOUBLE default 1: x\n`).join('');
    const text = `${HEADER}${parameters}\n-- name: no header any more\nSELECT $share + $most\n`;
    const { parameters: found, ...check } = parseCheck(text.replaceAll('\n', '\r\n'), 'a.sql');
    expect(check).toMatchObject({ name: 'a', severity: 'warn', description: 'd', next: 'n' });
    expect(found.map(({ name }) => name)).toEqual(['share', 'most']);
    const wrong = `${HEADER}-- within_run: nothing\nSELECT 1`.replaceAll('\n', '\r\n');
    expect(() => parseCheck(wrong, 'a.sql')).toThrow(/^a\.sql:5: within_run: "nothing" is not a column of items/u);
  });

  it.each([
    ['-- name: a\n-- severity: fatal\n-- description: d\n-- next: n\nSELECT 1', /^a\.sql:2: severity: /u],
    ['-- name: a\n-- severity: warn\n-- next: n\nSELECT 1', 'a.sql:1: the header is missing a "-- description:" line'],
    ['-- name: a\n-- severty: warn\nSELECT 1', 'a.sql:2: unknown header "severty", meant "severity"?'],
    [`${HEADER}-- name: b\nSELECT 1`, 'a.sql:5: "name" appears twice'],
    [
      `${HEADER}-- scope: site_ids, url\nSELECT 1`,
      'a.sql:5: scope: "site_ids" is not a column of items, meant "site_id"?',
    ],
    [`${HEADER}-- scope: rows\nSELECT 1`, 'a.sql:5: scope: "rows" is not a column of items, meant "row"?'],
    [`${HEADER}-- parameter: share half\nSELECT $share`, /^a\.sql:5: parameter "share half" doesn't have the form/u],
    [`${HEADER}-- parameter: share FLOAT default 1: x\nSELECT $share`, /^a\.sql:5: parameter share: type FLOAT/u],
    [`${HEADER}-- parameter: n BIGINT default x: x\nSELECT $n`, 'a.sql:5: parameter n: default x is not a BIGINT'],
    [`${HEADER}-- parameter: share DOUBLE default 1: x\nSELECT 1`, /share is declared, but \$share is not used/u],
    [`${HEADER}SELECT '$free' -- $free\nWHERE $share > 1`, 'a.sql:6: parameter $share is not declared'],
  ])('is refused with file and line: %j', (text, message) => {
    expect(() => parseCheck(text, 'a.sql')).toThrow(message);
  });

  it('is refused if another file has the same check name', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'checks-'));
    await writeFile(join(folder, 'a.sql'), `${HEADER}SELECT 1`);
    await writeFile(join(folder, 'b.sql'), `${HEADER}SELECT 1`);
    await expect(loadChecks(folder)).rejects.toThrow(/b\.sql: the a check is also defined in .*a\.sql/u);
    await rm(folder, { recursive: true });
  });
});
