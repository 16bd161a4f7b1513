/** Runs of every kind, one after the other on small services. */
import { landEvent, moveOn, type World, type WorldOptions } from './world.js';

/** Before each run, what happens in the service and is set in the pipeline. */
export interface Story {
  options: WorldOptions;
  runs: [name: string, before: (world: World) => unknown][];
}

const SMALL: WorldOptions = { items: 60, sites: 3, pastDays: 5 };

/** The world moves on. A receiver has landed the first of the new changes, where there is one. */
const goOn =
  (changes: number, received = 0) =>
  async (world: World) => {
    const news = await moveOn(world, { hours: 2, changes });
    if (received > 0) await landEvent(world.lakePath, `e${news[0]}`, news.slice(0, received));
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
      ['changes of the feed and of webhooks', goOn(30, 10)],
      [
        'a complete comparison',
        (world) => {
          world.pipeline.source.mode = 'snapshot';
          return goOn(30, 10)(world);
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
      ['what changed since, and webhooks', goOn(20, 10)],
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
          return goOn(60, 30)(world);
        },
      ],
    ],
  },
};
