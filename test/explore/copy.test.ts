/** Tests the page of the copy with the steps of runs, failures, and the remote. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { landWithWings } from '../../src/wings/index.js';
import { openWorld, testIo, type World } from '../run/world.js';
import { serve } from './explored.js';

let world: World;
beforeAll(async () => {
  world = await openWorld({ items: 40, sites: 2, history: 'none' });
  await world.sync();
});
afterAll(() => world.close());

/** The cells of the rows of the table of steps. */
function readSteps(page: string): string[][] {
  const [, table = ''] = /data-analysis="steps">([\s\S]*?)<\/table>/u.exec(page) ?? [];
  return [...table.matchAll(/<tr role="row"><th scope="row"[\s\S]*?<\/tr>/gu)].map(([row]) =>
    [...row.matchAll(/<t[hd][^>]*>([\s\S]*?)<\/t[hd]>/gu)].map(([, cell = '']) => cell.replaceAll(/<[^>]*>/gu, '')),
  );
}

test('runs show the seconds of their steps, and a failed run shows its step, reason and next step', async () => {
  const served = await serve({ lake: world.lakePath });
  const before = await served.page('/copy');
  expect(before).not.toContain('failed in step');
  const [first = []] = readSteps(before);
  expect(first[0]).toBe('1');
  expect(first.slice(2, 10).every((seconds) => /^\d+\.\d$/u.test(seconds))).toBe(true);
  expect(first.at(-1)).toBe('–');

  await world.sandbox.advance({ hours: 1, changes: 3 });
  world.intercept = async (request, next) =>
    new URL(request.url).pathname.endsWith('/changes')
      ? Response.json({ error: '<b>no</b>' }, { status: 401 })
      : next(request);
  await expect(world.sync()).rejects.toMatchObject({ code: 'unauthorized' });
  world.intercept = undefined;
  const failed = await served.page('/copy');
  expect(failed).toMatch(/<h2>Run 2 failed in step land <span class="tag">unauthorized<\/span><\/h2>/u);
  expect(failed).toMatch(/<p class="next"><bdi>\S/u);
  expect(failed).not.toContain('<b>no</b>');
  expect(failed).toMatch(/is interrupted, landed .*; the next sync continues it at step land/u);
  expect(readSteps(failed)[0]?.at(-1)).toBe('unauthorized in land');

  await world.sync();
  const after = await served.page('/copy');
  expect(after).not.toContain('failed in step');
  expect(readSteps(after).map(([run, ...cells]) => [run, cells.at(-1)])).toEqual([
    ['2', '–'],
    ['2', 'unauthorized in land'],
    ['1', '–'],
  ]);
  await served.close();
});

test('a lake without a remote says so', async () => {
  const served = await serve({ lake: world.lakePath });
  expect(await served.page('/copy')).toContain('This lake has no remote');
  await served.close();
});

test('a lake without a published run says so on every page', async () => {
  world.renew();
  await landWithWings(world.pipeline, testIo);
  const served = await serve({ lake: world.lakePath });
  for (const path of ['/', '/products', '/shops', '/categories', '/list', '/copy', '/analyses/movers']) {
    expect(await served.page(path)).toContain('Nothing is published in this lake yet, so pages are empty');
  }
  const copy = await served.page('/copy');
  expect(copy).toContain('No run is published yet.');
  expect(copy).not.toMatch(/matched the API document|names no datasets|No run compared/u);
  expect(copy).toMatch(/the next sync continues it at step apply/u);
  expect(await served.page('/products')).toContain('A listing has a product by its GTIN');
  await world.sync();
  await expect.poll(() => served.page('/'), { timeout: 20_000 }).toContain('as of run 1,');
  expect(await served.page('/')).not.toContain('pages are empty');
  await served.close();
});
