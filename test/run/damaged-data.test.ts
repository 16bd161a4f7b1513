import { cp, open, readdir, stat } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { faultOf } from '../failure.js';
import { openWorld } from './world.js';

let original: string;
const world = await openWorld({ items: 60, sites: 1, pastDays: 2 });
beforeAll(async () => {
  await world.sync();
  await world.sandbox.advance({ hours: 6, changes: 60 });
  original = world.lakePath;
});
afterAll(() => world.close());

async function overwrite(file: string, share: number, bytes: Buffer): Promise<void> {
  const handle = await open(file, 'r+');
  await handle.write(bytes, 0, bytes.length, Math.floor(((await stat(file)).size - bytes.length) * share));
  await handle.close();
}

const SHARES = [0, 0.1, 0.3, 0.5, 0.7, 0.85, 0.9, 0.95, 1];

test.each(SHARES)(
  'bytes of the files of items that changed at %d of their length end a run as damage, or not at all',
  async (share) => {
    for (const bytes of [Buffer.alloc(16), Buffer.alloc(1, 0xff)]) {
      world.renew();
      await cp(original, world.lakePath, { recursive: true });
      const items = path.join(world.lakePath, 'items');
      for (const name of await readdir(items)) {
        if (name.endsWith('.parquet')) await overwrite(path.join(items, name), share, bytes);
      }
      const error = await faultOf(world.sync());
      if (error === undefined) continue;
      expect(error).toMatchObject({
        code: 'lake_invalid',
        message: expect.stringMatching(/: a data file is missing or damaged: items\/\S+ has another checksum$/),
        facts: { hint: expect.stringContaining('`pricelake lake rebuild`') },
      });
    }
  },
);
