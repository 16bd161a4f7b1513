import { expect, test } from 'vitest';
import { syncPipeline } from '../../src/run/sync.js';
import { openWorld, testIo } from './world.js';

test('a service that answers about the sample late does not delay the derived tables', async () => {
  let release = () => {};
  const world = await openWorld({
    items: 200,
    sites: 3,
    intercept: async (request, next) => {
      if (/\/items\/\d+$/.test(new URL(request.url).pathname))
        await new Promise<void>((resolve) => (release = resolve));
      return next(request);
    },
  });
  try {
    world.pipeline.proof.sample = 1;
    const log: typeof testIo.log = (_level, event, fields) => {
      if (event === 'staged' && fields?.table === 'price_spread') release();
    };
    const { row } = await syncPipeline(world.pipeline, { ...testIo, log });
    expect(row).toMatchObject({ sampled: 1n, sample_mismatches: 0n });
  } finally {
    await world.close();
  }
});
