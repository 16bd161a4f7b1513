import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { listAnalyses } from '../../src/analyze/analysis.js';
import { isOnSpark, NOT_ON_SPARK, requireOnSpark } from '../../src/analyze/on-spark.js';
import { readAnalysis } from '../../src/sql/model.js';
import { loadTableSchema } from '../../src/tables/schemas.js';
import { TABLE_NAMES } from '../../src/tables/table.js';

const folder = new URL('../../pipelines/spark/', import.meta.url).pathname;
const read = (file: string) => readFileSync(join(folder, file), 'utf8');
const files = readdirSync(join(folder, 'sql')).filter((file) => file.endsWith('.sql'));

describe("Spark's queries", () => {
  it.each(files)('%s is made of the query that DuckDB runs', (file) => {
    const text = read(`sql/${file}`);
    const [, path, source] = /from pipelines\/(\S+): change that one\. Source (\w+)\./.exec(text) ?? [];
    const name = /analysis\/(\w+)\.sql/.exec(String(path))?.[1];
    const query = name === undefined ? read(`../${path}`) : readAnalysis(name);
    const parts = [query, ...['generate.py', 'dialect.py', 'columns.py'].map(read)];
    const hash = createHash('sha256').update(parts.join('\n')).digest('hex').slice(0, 16);
    expect(source, 'run `python pipelines/spark/generate.py`').toBe(hash);
  });

  it.each(files.filter((file) => TABLE_NAMES.some((table) => `${table}.sql` === file)))(
    '%s gives the columns of its table',
    (file) => {
      const table = TABLE_NAMES.find((name) => `${name}.sql` === file);
      if (table === undefined) throw new Error(file);
      const names = /^-- columns: (.*)$/m
        .exec(read(`sql/${file}`))?.[1]
        ?.split(', ')
        .map((one) => one.split(' ')[0]);
      expect(names).toEqual(loadTableSchema(table).columns.map(({ name }) => name));
    },
  );

  it('are of all analyses but those that say why, and these are refused', () => {
    const missing = listAnalyses().filter((name) => !isOnSpark(name));
    expect(Object.keys(NOT_ON_SPARK).sort()).toEqual(missing.sort());
    for (const name of missing) expect(() => requireOnSpark(name)).toThrow(NOT_ON_SPARK[name]);
    const [, named = ''] = /These analyses have no file in `sql\/`: (.*?)\. Run them/.exec(read('README.md')) ?? [];
    expect([...named.matchAll(/`(\w+)`/g)].map(([, name]) => String(name))).toEqual(missing.sort());
  });

  it('have all been run: the page of Spark has each of them on every version', () => {
    const lines = read('../../docs/background/spark.md').matchAll(
      /^\| Spark +\| ([\d., ]+?) +\| values that are hard .*?: (.*?) +\| .*equal/gm,
    );
    const rows = [...lines].flatMap(([, versions = '', names = '']) =>
      versions.split(', ').flatMap((version) => [...names.matchAll(/\w+/g)].map(([name]) => [version, name] as const)),
    );
    const versions = new Set(rows.map(([version]) => version));
    expect(versions.size).toBeGreaterThan(1);
    // The offers of each day are only read by others.
    const names = files.map((file) => file.replace('.sql', '')).filter((name) => name !== 'offer_prices');
    const run = rows.map(([version, name]) => `${version} ${name}`).sort();
    expect(run).toEqual([...versions].flatMap((version) => names.map((name) => `${version} ${name}`)).sort());
  });
});
