/** Runs of every kind, one after the other on small services. */
import { stringify } from 'lossless-json';
import { EventStore } from '../../src/webhook/event-store.js';
import { testIo, type World, type WorldOptions } from './world.js';

/** Before each run, what happens in the service and is set in the pipeline. */
export interface Story {
  options: WorldOptions;
  runs: [name: string, before: (world: World) => unknown][];
}

const SMALL: WorldOptions = { items: 60, sites: 3, pastDays: 5 };

/** The world moves on. A receiver has landed the first of the new changes, where there is one. */
const moveOn =
  (changes: number, received = 0) =>
  async ({ sandbox, lakePath }: World) => {
    const before = (await sandbox.dump()).changes.length;
    await sandbox.advance({ hours: 2, changes });
    if (received === 0) return;
    const news = (await sandbox.dump()).changes.slice(before, before + received);
    const head = stringify({ id: `e${before}`, type: 'changes', createdAt: '2026-11-20T06:00:00Z', cursor: null });
    const event = `${head?.slice(0, -1)},"changes":[${news.join(',')}]}`;
    await (await EventStore.open(lakePath, testIo)).land(`e${before}`, Buffer.from(event));
  };

export const STORIES: Record<string, Story> = {
  'of a plan with the feed': {
    options: SMALL,
    runs: [
      [
        'a first copy, with all comparisons',
        ({ pipeline }) => {
          pipeline.source.products = 'all';
          pipeline.proof = { sample: 5, products: true, facets: true };
        },
      ],
      ['changes of the feed and of webhooks', moveOn(30, 10)],
      [
        'a complete comparison',
        (world) => {
          world.pipeline.source.mode = 'snapshot';
          return moveOn(30, 10)(world);
        },
      ],
    ],
  },
  'of a plan without the feed, with items histories': {
    options: { ...SMALL, items: 40, limits: { changeFeed: false } },
    runs: [
      [
        'a first copy',
        ({ pipeline }) => {
          pipeline.source.history = 'items';
          pipeline.proof = { sample: 5, products: true, facets: true };
        },
      ],
      ['what changed since, and webhooks', moveOn(20, 10)],
    ],
  },
  'of some datasets': {
    options: { ...SMALL, items: 110, sites: 6 },
    runs: [
      ['a first copy', ({ pipeline }) => Object.assign(pipeline.source, { datasets: [11n] })],
      [
        'one dataset more, and webhooks',
        (world) => {
          world.pipeline.source.datasets = [11n, 26n];
          return moveOn(60, 30)(world);
        },
      ],
    ],
  },
};
