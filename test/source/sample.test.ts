import { appendFile } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { cutItemTails, listItemFiles } from '../../src/source/item-files.js';
import { landSample } from '../../src/wings/sample/land-sample.js';
import { sendJson, startService } from '../api/local-service.js';
import { lastEntry, listEntries, openLanding, readLanded, reopenLanding } from './landing.js';

const ERROR = { status: 0, error: '', message: 'no', docsUrl: '' };

/** Serves items 1 to 9 individually. Answers 401 from a certain request on. */
const startItems = (breakAt = Number.POSITIVE_INFINITY) =>
  startService((request, response, count) => {
    if (count >= breakAt) return sendJson(response, 401, ERROR);
    const id = Number(/\d+$/.exec(request.url ?? '')?.[0]);
    return id < 10 ? sendJson(response, 200, { price: 5, id }) : sendJson(response, 404, ERROR);
  });

test('an interrupted sample requests nothing again that has landed', async () => {
  const ids = [1n, 2n, 3n, 4n, 5n, 6n, 7n, 77n];
  const broken = await startItems(4);
  await expect(landSample(broken.client, await openLanding(), ids, broken.io)).rejects.toMatchObject({
    code: 'unauthorized',
  });
  const landing = await reopenLanding();
  const landed = listEntries(landing, 'sample.page').length;
  expect(landed).toBeGreaterThan(0);
  // Killed after a row was written and before the journal listed it.
  await appendFile(listItemFiles(landing, 'sample').at(-1)?.path ?? '', '{"id":');
  await cutItemTails(landing); // as a run does when it opens
  const service = await startItems();
  const sample = await landSample(service.client, landing, ids, service.io);
  expect(service.urls).toHaveLength(ids.length - landed);
  expect(sample).toEqual({ files: listItemFiles(landing, 'sample'), missing: [77n] });
  expect(sample.files.reduce((rows, file) => rows + file.rows, 0)).toBe(7);
  const names = new Set(listEntries(landing, 'sample.page').map(({ file }) => file));
  const lines = (await Promise.all([...names].map((name) => readLanded(landing, name)))).flat();
  expect(lines.filter((line) => line !== '').sort()).toEqual(
    [1, 2, 3, 4, 5, 6, 7].map((id) => `{"price":5,"id":${id}}`),
  );
  expect(lastEntry(landing, 'sample.done')).toEqual({ type: 'sample.done', missing: [77n], calls: 8 - landed });
  expect(await landSample(service.client, await reopenLanding(), ids, service.io)).toEqual(sample);
  expect(service.urls).toHaveLength(ids.length - landed);
});
