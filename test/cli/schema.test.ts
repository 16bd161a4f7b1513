import { tableFromIPC } from 'apache-arrow';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { showSchema } from '../../src/cli/actions/show-schema.js';
import { CATALOGS, CONTRACT_FORMATS } from '../../src/deliver/names.js';
import { TABLE_NAMES } from '../../src/tables/table.js';
import { act, MemoryOutput, openContext } from './open-context.js';
import { runHere } from './pricelake.js';

describe('schema', () => {
  it('without arguments lists the tables and their content, in the width of the terminal', async () => {
    const { stdout } = await runHere(['schema'], { columns: 80 });
    for (const table of TABLE_NAMES) expect(stdout).toMatch(new RegExp(`^${table} +\\S`, 'mu'));
    expect(stdout.split('\n').filter((line) => line.length > 80)).toEqual([]);
    expect(stdout).not.toContain('|');
    expect((await runHere(['schema', '--format', 'markdown'])).stdout).toContain('| `item_id`');
  });

  const formats = CONTRACT_FORMATS.filter((format) => format !== 'arrow' && !isCatalog(format));
  it.each(formats)('writes all tables or one as %s', async (format) => {
    const all = (await act(showSchema, { format })).text.toLowerCase();
    expect(all).toContain('spread_pct');
    expect(all).toContain('change_id');
    const { text } = await act(showSchema, { table: 'sites', format });
    expect(text.toLowerCase()).toContain('attribution');
    expect(text.toLowerCase()).not.toContain('spread_pct');
    if (format === 'json' || format === 'spark') JSON.parse(text);
  });

  it('writes one table as an Arrow stream, but not to a terminal', async () => {
    const { bytes } = await act(showSchema, { table: 'items', format: 'arrow' });
    expect(tableFromIPC(bytes).schema.fields[0]?.name).toBe('item_id');
    await expect(showSchema({ format: 'arrow' }, openContext())).rejects.toThrow('--format arrow needs a single table');
    const terminal = { ...openContext(), output: new MemoryOutput(80) };
    await expect(showSchema({ table: 'items', format: 'arrow' }, terminal)).rejects.toMatchObject({ code: 'usage' });
  });

  it('writes a dbt source whose tests refer to existing columns', async () => {
    const { text } = await act(showSchema, { format: 'dbt', base: 's3://bucket/lake/' });
    const { tables } = (parse(text) as { sources: [{ tables: DbtTable[] }] }).sources[0];
    const find = (name: string | undefined) => tables.find((table) => table.name === name) as DbtTable;
    expect(tables.map(({ name }) => name)).toEqual(TABLE_NAMES);
    expect(find('items').config.meta.delta_table_path).toBe('s3://bucket/lake/items');
    expect(find('items').columns[0]).toMatchObject({ name: 'item_id', data_tests: ['unique', 'not_null'] });
    expect(find('runs')).toMatchObject({ loaded_at_field: 'finished_at', freshness: { warn_after: { count: 1 } } });
    const unique = find('price_spread').data_tests?.[0]?.unique.arguments.column_name;
    expect(unique).toBe("coalesce(cast(product_id as string), '') || '|' || coalesce(cast(currency as string), '')");
    const tests = tables.flatMap(({ columns }) => columns.flatMap(({ data_tests = [] }) => data_tests));
    const relationships = tests.flatMap((test) => (typeof test === 'object' ? (test.relationships ?? []) : []));
    expect(relationships.length).toBeGreaterThan(5);
    for (const { arguments: target } of relationships) {
      const name = /^source\('pricelake', '(\w+)'\)$/.exec(target.to)?.[1];
      expect(find(name).columns.map((column) => column.name)).toContain(target.field);
    }
    const values = find('runs').columns.find(({ name }) => name === 'mode')?.data_tests;
    expect(values).toContainEqual({ accepted_values: { arguments: { values: ['snapshot', 'feed', 'poll'] } } });
  });

  it.each([
    ['unity', 'USING DELTA', "LOCATION 's3://bucket/lake/sites'"],
    ['glue', "TBLPROPERTIES ('table_type' = 'DELTA')", "LOCATION 's3://bucket/lake/sites/'"],
    ['hive', '`valid_from` TIMESTAMP COMMENT', "LOCATION 's3://bucket/lake/sites'"],
  ] as const)('registers tables in the catalog %s at their address', async (format, kind, location) => {
    const { text } = await act(showSchema, { table: 'sites', format, base: 's3://bucket/lake/' });
    expect(text).toContain(kind);
    expect(text).toContain(location);
    for (const base of [undefined, 'lake', "s3://bucket/it's", 's3://bucket/a b', 's3://bucket/lake\nDROP']) {
      await expect(act(showSchema, { format, base })).rejects.toMatchObject({
        code: 'usage',
        message: `--format ${format} needs the address of the lake's files`,
      });
    }
  });

  it('refuses a base that would have no effect', async () => {
    await expect(act(showSchema, { format: 'ddl', base: 's3://bucket/lake' })).rejects.toMatchObject({ code: 'usage' });
  });
});

const isCatalog = (format: string) => CATALOGS.some((catalog) => catalog === format);

interface Named {
  relationships?: { arguments: { to: string; field: string } };
}

interface DbtTable {
  name: string;
  config: { meta: { delta_table_path: string } };
  data_tests?: { unique: { arguments: { column_name: string } } }[];
  columns: { name: string; data_tests?: (string | Named)[] }[];
}
