import { afterEach, describe, expect, test } from 'vitest';
import { failure } from '../failure.js';
import { changeText, openWorld, readItems, readTruth, type World } from './world.js';

let world: World;
afterEach(() => world.close());

describe('answers of the service', () => {
  test.each(['ndjson', 'csv'] as const)('may begin with a byte-order mark, with an export as %s', async (format) => {
    world = await openWorld({
      items: 40,
      sites: 2,
      exportShape: 'dotted',
      intercept: changeText(/./, (text) => `\uFEFF${text}`),
    });
    world.pipeline.source.export = format;
    const { row } = await world.sync();
    expect(row).toMatchObject({ rejected: 0n, items: BigInt((await readTruth(world.sandbox)).size) });
    expect(await readItems(world.lakePath)).toEqual(await readTruth(world.sandbox));
    await world.sandbox.advance({ hours: 1, changes: 10 });
    await world.sync();
    expect(await readItems(world.lakePath)).toEqual(await readTruth(world.sandbox));
  });

  test.each([
    [';', 'semicolons'],
    ['\t', 'tabs'],
  ])(
    'are refused at the header where %j separates the columns of an export, and asked for once',
    async (mark, name) => {
      const separate = changeText(/\/export$/, (text) =>
        text.replaceAll(/("(?:[^"]|"")*")|,/g, (_, cell?: string) => cell ?? mark),
      );
      world = await openWorld({ items: 40, sites: 2, exportShape: 'dotted', intercept: separate });
      world.pipeline.source.export = 'csv';
      const error = await failure(world.sync());
      expect(error).toMatchObject({
        code: 'contract',
        message: `/export: ${name} separate the columns of the CSV, but only commas are read`,
      });
      expect(error.facts.hint).toContain('source.export to ndjson');
      expect(world.requests.filter((request) => request.startsWith('/export'))).toHaveLength(1);
    },
  );
});
