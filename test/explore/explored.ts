import { existsSync } from 'node:fs';
import { cp, mkdtemp, rename, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { exploreLake } from '../../src/cli/actions/explore-lake.js';
import { openContext } from '../cli/open-context.js';
import { openStory, type Story } from '../front/story.js';

/** Pages as `pricelake explore` serves them. */
export interface Served {
  /** Address that the command prints. */
  url: string;
  /** The pages' address, without the secret. */
  base: string;
  /** Asks with the secret of the address. */
  get(path: string, init?: RequestInit): Promise<Response>;
  /** The text of a page, when all that it shows is prepared. */
  page(path: string): Promise<string>;
  close(): Promise<void>;
}

/** A lake that a test may read and damage. */
export type StoryLake = Pick<Story, 'lakePath' | 'close'>;

export interface Explored<S extends StoryLake = Story> extends Served {
  story: S;
}

type Request = Parameters<typeof exploreLake>[0];

export const HOSTILE = '<script>alert("x")</script> \u202eKettle';

/** Three shops sell a radio, one much cheaper since today; other products have hostile names. */
export async function tellMarket(): Promise<Story> {
  const story = await openStory();
  story.at('17 08:00');
  const radio = { brand: 'Acme', mpn: 'R-1', title: 'Rádio Nôtre 7', category: null };
  story.add({ ...radio, siteId: 11n, price: 10_000, url: 'https://shop.example/radio' });
  story.add({ ...radio, siteId: 22n, price: 11_000 });
  const third = story.add({ ...radio, siteId: 33n, price: 10_500, url: 'javascript:alert(1)' });
  story.add({ brand: 'Odd/ä%', mpn: 'O "1"?', title: HOSTILE, siteId: 11n, price: 500 });
  story.add({ gtin: '4006381333931', title: 'Pencil', siteId: 22n, price: 199 });
  for (let n = 0; n < 60; n++)
    story.add({ brand: 'Bead', mpn: `B-${n}`, title: `Bead ${n}`, siteId: 44n, price: 10 + n });
  const jump = story.add({ brand: 'Jump', mpn: 'J-1', title: 'Jumping price', siteId: 44n, price: 5_000 });
  await story.run();
  for (const [time, price] of [
    ['18 08:00', 500_000],
    ['18 09:00', 5_000],
    ['18 10:00', 5_100],
  ] as const) {
    story.at(time);
    story.change(jump, { previousPrice: jump.price, price });
  }
  await story.run();
  story.at('19 09:00');
  story.change(third, { previousPrice: 10_500, price: 8_000 });
  await story.run();
  return story;
}

/** A copy of the lake that `tellMarket` leaves. Its three runs are made once for all files of tests. */
export async function copyMarket(): Promise<StoryLake> {
  const market = join(tmpdir(), 'market-lake');
  if (!existsSync(market)) {
    const story = await tellMarket();
    // Another worker may have made it in the meantime.
    await rename(story.lakePath, market).catch((error) => {
      if (!existsSync(market)) throw error;
    });
    await story.close();
  }
  const folder = await mkdtemp(join(tmpdir(), 'market-'));
  const lakePath = join(folder, 'lake');
  await cp(market, lakePath, { recursive: true });
  return { lakePath, close: () => rm(folder, { recursive: true }) };
}

/** The pages of a story's lake. */
export async function explore<S extends StoryLake>(story: S, options: Partial<Request> = {}): Promise<Explored<S>> {
  return { story, ...(await serve({ lake: story.lakePath, ...options })) };
}

/** Runs the command until `close`. */
export async function serve(options: Partial<Request>): Promise<Served> {
  const context = openContext(true);
  const stop = new AbortController();
  const request = { host: '127.0.0.1', port: 0, memory: '400MB', ...options };
  const served = exploreLake(request, { ...context, signal: stop.signal });
  while (context.output.text === '') await Promise.race([served, new Promise((resolve) => setTimeout(resolve, 10))]);
  const { url } = JSON.parse(context.output.text) as { url: string };
  const close = async () => {
    stop.abort();
    await served;
  };
  return { url, ...askAt(url), close };
}

/** Asks with the secret of an address. */
export function askAt(url: string): Pick<Served, 'base' | 'get' | 'page'> {
  const { origin: base, searchParams } = new URL(url);
  const headers = { cookie: `pricelake-token=${searchParams.get('token')}` };
  const get = (path: string, init: RequestInit = {}) =>
    fetch(`${base}${path}`, { redirect: 'manual', ...init, headers: { ...headers, ...init.headers } });
  // A page that is still being prepared asks the browser to load it again.
  const page = async (path: string): Promise<string> => {
    const text = await (await get(path)).text();
    return text.includes('http-equiv="refresh"') ? page(path) : text;
  };
  return { base, get, page };
}
