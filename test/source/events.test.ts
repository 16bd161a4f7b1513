import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { expect, test } from 'vitest';
import type { Landing } from '../../src/journal/landings.js';
import { landEvents, listLandedEvents } from '../../src/wings/webhook/land-events.js';
import { createFakeIo } from '../api/fake-io.js';
import { listOpenFiles, makeFolder } from '../journal/folder.js';
import { listEntries, openLanding, readLanded, reopenLanding } from './landing.js';

/** Stores events as the receiver does, under their keys. */
async function keep(events: Record<string, string>) {
  const folder = await makeFolder();
  const kept = Object.entries(events).map(([key, text]) => ({ key, text, path: path.join(folder, `${key}.json`) }));
  for (const { path, text } of kept) await writeFile(path, text);
  return async () => kept;
}
const readSource = ({ journal }: Landing) => journal.state.sources.get('webhook');
const event = (...ids: number[]) => JSON.stringify({ id: 'x', changes: ids.map((id) => ({ id })) });

test('the changes of waiting events land unaltered, one per line, once per run', async () => {
  const [landing, io] = [await openLanding(), createFakeIo()];
  const listEvents = await keep({
    a: event(1, 2),
    b: '{"changes":null}',
    c: '{}',
    d: '{"changes":[{"id":3,\n"t":"ä"}]}',
  });
  await landEvents(landing, listEvents, io);
  const text = ['{"id":1}', '{"id":2}', '{"id":3, "t":"ä"}'];
  const landed = {
    landed: { file: 'webhook.ndjson', origin: 'webhook' },
    changes: 3,
    bytes: Buffer.byteLength(`${text.join('\n')}\n`),
  };
  expect(readSource(landing)).toMatchObject(landed);
  expect(await readLanded(landing, 'webhook.ndjson')).toEqual(text);
  expect(listEntries(landing, 'source.rows').map(({ key, rows }) => [key, rows])).toEqual([
    ['a', 2],
    ['b', 0],
    ['c', 0],
    ['d', 1],
  ]);
  expect(listLandedEvents(landing)).toEqual(['a', 'b', 'c', 'd']);
  expect(io.events).toEqual([{ level: 'debug', event: 'landed', facts: { what: 'events', events: 4 } }]);
  expect(await listOpenFiles(landing.folder)).toEqual(['journal.ndjson']);
  // Events that arrive later belong to the next run.
  await landEvents(landing, await keep({ e: event(9) }), io);
  expect(readSource(landing)).toMatchObject(landed);
  expect(listEntries(landing, 'source.done')).toHaveLength(1);
});

test('without events, no file is written and nothing is logged', async () => {
  const [landing, io] = [await openLanding(), createFakeIo()];
  await landEvents(landing, async () => [], io);
  expect(readSource(landing)).toMatchObject({ landed: undefined, changes: 0, bytes: 0 });
  expect([io.events, listEntries(landing, 'source.done').length]).toEqual([[], 1]);
  await expect(readLanded(landing, 'webhook.ndjson')).rejects.toThrow('ENOENT');
});

test.each([
  ["that isn't JSON", 'oops'],
  ["whose changes aren't a list", '{"changes":7}'],
])(
  'an event file %s is refused by its name, and the run continues once the file is moved away',
  async (_what, text) => {
    const listEvents = await keep({ a: event(1), b: text });
    const [, damaged] = await listEvents();
    const first = await openLanding();
    await expect(landEvents(first, listEvents, createFakeIo())).rejects.toMatchObject({
      code: 'lake_invalid',
      message: `${damaged?.path} is not the event that was received`,
      facts: { hint: 'Move the file away. The feed also contains its changes.' },
      cause: expect.any(SyntaxError),
    });
    expect(await listOpenFiles(first.folder)).toEqual(['journal.ndjson']);
    const landing = await reopenLanding();
    const io = createFakeIo();
    await landEvents(landing, await keep({ a: event(7, 7), c: event(2) }), io);
    expect(await readLanded(landing, 'webhook.ndjson')).toEqual(['{"id":1}', '{"id":2}']);
    expect(io.events).toMatchObject([{ facts: { events: 1 } }]);
  },
);
