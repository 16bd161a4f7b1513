import { afterEach, describe, expect, test } from 'vitest';
import { estimateWithWings } from '../../src/wings/index.js';
import { changeText, openWorld, readItems, readLake, readTruth, testIo, type World } from './world.js';

let world: World;
afterEach(() => world.close());

/** The columns of each table that don't depend on the time or the run. */
const TABLES: Record<string, string> = {
  items: '* EXCLUDE (read_at, run_id)',
  history: '* EXCLUDE (run_id)',
  sites: 'site_id, name, host, attribution, is_current',
  products: '* EXCLUDE (run_id)',
  product_prices: '* EXCLUDE (run_id)',
};

async function readTables(): Promise<Record<string, string[][]>> {
  const tables: Record<string, string[][]> = {};
  for (const [table, columns] of Object.entries(TABLES)) {
    tables[table] = await readLake(world.lakePath, (glob) => `SELECT ${columns} FROM ${glob(table)} ORDER BY ALL`);
  }
  return tables;
}

const formats = () => world.requests.flatMap((request) => /^\/export.*format=(\w+)/.exec(request)?.[1] ?? []);

describe('a copy from CSV', () => {
  test('gives the same tables as NDJSON, with columns named flat-camel', async () => {
    world = await openWorld({ items: 60, sites: 3, exportShape: 'flat-camel' });
    expect((await world.sync()).row.schema_drift).toBe('[]');
    const expected = await readTables();
    world.renew();
    world.pipeline.source.export = 'csv';
    const { row } = await world.sync();
    expect(formats()).toEqual(['csv']);
    expect(await readItems(world.lakePath)).toEqual(await readTruth(world.sandbox));
    expect(await readTables()).toEqual(expected);
    expect(row.received).toBe(row.written + row.rejected + row.deduplicated);
    expect(row).toMatchObject({ rejected: 0n, export_rows_landed: row.items, schema_drift: '[]' });
  });

  test.each([0, 1])('reads empty cells as null if all cells are quoted, with %i damaged rows', async (damaged) => {
    const quoteAll = changeText(/\/export$/, (text) => {
      const quoted = text.replaceAll(/("(?:[^"]|"")*"|[^",\r\n]*)(,|\r?\n)/g, (_, cell: string, end: string) =>
        cell.startsWith('"') ? cell + end : `"${cell}"${end}`,
      );
      return damaged === 0 ? quoted : quoted.replace(/"20\d\d-[^"]*Z"/, '"soon"');
    });
    world = await openWorld({ items: 60, sites: 3, exportShape: 'dotted', intercept: quoteAll });
    world.pipeline.source.export = 'csv';
    const { row } = await world.sync();
    expect(row).toMatchObject({ rejected: BigInt(damaged), schema_drift: '[]' });
    expect(await readItems(world.lakePath)).toEqual(await readTruth(world.sandbox));
  });

  test('reads every export by its own header, in a run whose exports have different columns', async () => {
    let exports = 0;
    const addColumn = changeText(/\/export$/, (text) =>
      text.startsWith('{') || ++exports % 2 === 0
        ? text
        : text.replace(/^id,/, 'color,id,').replaceAll(/^(?=\d+,)/gm, 'red,'),
    );
    world = await openWorld({ items: 60, sites: 4, exportShape: 'dotted', intercept: addColumn });
    Object.assign(world.pipeline.source, { export: 'csv', splitAbove: 20 });
    expect(await world.sync()).toMatchObject({ published: true, row: { rejected: 0n } });
    expect(exports).toBeGreaterThan(2);
    const extras = await readLake(world.lakePath, (glob) => `SELECT DISTINCT extra FROM ${glob('items')} ORDER BY ALL`);
    expect(extras).toEqual([['{"color":"red"}'], ['∅']]);
  });

  test.each([';', '\t'])(
    'with columns separated by %j is paid for once, and pages replace it until ndjson is set',
    async (mark) => {
      const separate = changeText(/\/export$/, (text) => (text.startsWith('{') ? text : text.replaceAll(',', mark)));
      world = await openWorld({ items: 60, sites: 3, exportShape: 'dotted', intercept: separate });
      world.pipeline.source.export = 'csv';
      await expect(world.sync()).rejects.toMatchObject({
        code: 'contract',
        facts: { hint: expect.stringContaining('Set source.export to ndjson') },
      });
      const said = await estimateWithWings(world.pipeline, testIo);
      expect(said.steps.find(({ step }) => step === 'pages')?.basis).toContain('set source.export to ndjson');
      expect(said.exportRows).toBe(0n);
      expect((await world.sync()).row).toMatchObject({ mode: 'snapshot', items: 60n, caught_up: true });
      world.pipeline.source.mode = 'snapshot';
      await world.sync();
      expect(formats()).toEqual(['csv']);
      expect(await readItems(world.lakePath)).toEqual(await readTruth(world.sandbox));
      world.pipeline.source.export = 'ndjson';
      await world.sync();
      expect(formats()).toEqual(['csv', 'ndjson']);
    },
  );

  test('may be split by website, and continues where it was stopped', async () => {
    world = await openWorld({ items: 60, sites: 3, history: 'none', faults: ['export:drop@3-'] });
    Object.assign(world.pipeline.source, { export: 'csv', splitAbove: 40 });
    await expect(world.sync()).rejects.toMatchObject({ code: 'unavailable' });
    world.sandbox.armFaults([]);
    await world.sync();
    expect(new Set(formats())).toEqual(new Set(['csv']));
    expect(await readItems(world.lakePath)).toEqual(await readTruth(world.sandbox));
  });
});
