import { afterAll, beforeEach, describe, expect, test } from 'vitest';
import { EventStore } from '../../src/wings/webhook/event-store.js';
import { startReceiver } from '../../src/wings/webhook/receiver.js';
import { failure } from '../failure.js';
import { SECRET, sign } from '../webhook/delivery.js';
import { changeText, moveOn, openWorld, readItems, readTruth, testIo } from './world.js';

const world = await openWorld({ items: 40, sites: 2, exportShape: 'dotted' });
beforeEach(() => world.renew());
afterAll(() => world.close());

test('the body of a webhook may begin with a byte-order mark, which is covered by the signature', async () => {
  await world.sync();
  const changes = await moveOn(world, { hours: 1, changes: 5 });
  const store = await EventStore.open(world.lakePath, testIo);
  const address = { host: '127.0.0.1', port: 0, path: '/webhook', maxBodyBytes: 100_000 };
  const ages = { maxAgeMs: 3_600_000, maxSkewMs: 60_000 };
  const receiver = await startReceiver(
    { ...address, ...ages, secrets: { current: async () => [SECRET] }, store },
    testIo,
  );
  try {
    const body = `\uFEFF{"id":"evt_1","type":"changes","cursor":null,"changes":[${changes.join()}]}`;
    const headers = { 'Service-Signature': sign(body, { at: new Date() }) };
    expect((await fetch(receiver.url, { method: 'POST', headers, body })).status).toBe(204);
  } finally {
    await receiver.close();
  }
  const { row } = await world.sync();
  expect(row).toMatchObject({ rejected: 0n, deduplicated: 5n });
  expect(await readItems(world.lakePath)).toEqual(await readTruth(world.sandbox));
});

describe('responses of the service', () => {
  test.each(['ndjson', 'csv'] as const)('may begin with a byte-order mark, with an export as %s', async (format) => {
    world.intercept = changeText(/./, (text) => `\uFEFF${text}`);
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
  ])('are refused by the header if %j separates the columns of an export, and requested once', async (mark, name) => {
    world.intercept = changeText(/\/export$/, (text) =>
      text.replaceAll(/("(?:[^"]|"")*")|,/g, (_, cell?: string) => cell ?? mark),
    );
    world.pipeline.source.export = 'csv';
    const error = await failure(world.sync());
    expect(error).toMatchObject({
      code: 'contract',
      message: `/export: the CSV columns are separated by ${name}, but pricelake only reads CSV with commas`,
    });
    expect(error.facts.hint).toContain('source.export to ndjson');
    expect(world.requests.filter((request) => request.startsWith('/export'))).toHaveLength(1);
  });
});
