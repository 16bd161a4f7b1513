import { createHash } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { planInfo } from '../../src/api/account-contract.js';
import { changePage, dataset, facets, item, itemPage, productDetail, productPage } from '../../src/api/contract.js';
import { SimulatedClock } from '../../src/sandbox/clock.js';
import { Readings } from '../../src/sandbox/readings/readings.js';
import { describeReadings, describeValues, factsOf, READING_NAMES } from '../../src/sandbox/readings/registry.js';
import { advanceWorld } from '../../src/sandbox/world/advance-world.js';
import { generateWorld } from '../../src/sandbox/world/generate-world.js';
import { World } from '../../src/sandbox/world/world.js';
import { micros, parse, Service } from './service.js';

const WORLD = { items: 450, sites: 4, pastDays: 6 };
const SECONDS_90 = 0.025;

describe('a reading', () => {
  it.each([
    ['lag.item=120s', "unknown reading 'lag.item'; did you mean lag.items?"],
    ['lastChangedAt=stay', 'lastChangedAt is moves | stays; did you mean stays?'],
    ['lag.items=1h', 'lag.items is 0s to 1500s'],
    ['lag.items=26m', 'lag.items is 0s to 1500s'],
    ['feed.oldCursor=404', 'feed.oldCursor is gap | continue | 400 | 410'],
    ['replicas', 'expected NAME=VALUE'],
  ])('%s is refused with the allowed values and a suggestion', (spec, reason) => {
    const usage = expect.objectContaining({ code: 'usage', message: expect.stringContaining(reason) });
    expect(() => new Readings([spec])).toThrow(usage);
  });

  it('that does not exist is refused with a list of all readings', () => {
    for (const name of READING_NAMES) expect(() => new Readings(['quota=1'])).toThrow(name);
  });

  it('applies as written, and a later one replaces an earlier one', () => {
    const readings = new Readings(['lag.items=2m', 'replicas=300s', 'timestamps=seconds', 'replicas=5s']);
    const names = ['lag.items', 'replicas', 'timestamps'] as const;
    expect(names.map((name) => readings.get(name))).toEqual([120, 5, 'seconds']);
    expect(readings.list().filter(({ isDefault }) => !isDefault)).toHaveLength(3);
  });

  it('appears in the help with its values, its meaning and its section of the API document', () => {
    const help = describeReadings();
    for (const name of READING_NAMES) {
      expect(help).toContain(`${name}=${describeValues(name)}`);
      expect(help).toContain(`${factsOf(name).says} (section ${factsOf(name).section})`);
    }
  });
});

interface ChangeJson {
  kind: string;
  observedAt: string;
  price: number | null;
  previousPrice: number | null;
  changes: Record<string, [unknown, unknown]>;
  item: { id: string; title: string | null } | null;
}

/** Ids are beyond the precision of a double. */
const parseRow = (line: string) => JSON.parse(line.replace(/"id":(\d{16,})/g, '"id":"$1"'));
const plain = async ({ sandbox }: Service) =>
  (await sandbox.dump()).changes.map((line) => parseRow(line) as ChangeJson);
const found = async (from: Service, query: string) =>
  (await from.read(`/items?status=all&size=500&${query}`, itemPage)).content;

describe('readings that affect rows', () => {
  let usual: Service;
  let other: Service;
  beforeAll(async () => {
    usual = await Service.start(WORLD);
    const readings = [
      ...['lastChangedAt=stays', 'changes.price=absent', 'changes.attributes=prefixed', 'changes.category=slug'],
      ...['feed.title=null', 'csv.lines=crlf', 'csv.bom=yes', 'csv.lists=semicolon', 'timestamps=milliseconds'],
    ];
    other = await Service.start({ ...WORLD, readings });
    for (const { sandbox } of [usual, other]) await sandbox.advance({ hours: 2, changes: 120 });
  });
  afterAll(() => Promise.all([usual.close(), other.close()]));

  it('lastChangedAt=stays: REMOVED and RELISTED leave lastChangedAt, unless the price changes with them', async () => {
    const removed = (await found(usual, '')).filter(({ removedAt }) => removedAt !== null);
    expect(removed.every(({ lastChangedAt, removedAt }) => lastChangedAt === removedAt)).toBe(true);
    const rows = (await found(other, '')).filter(({ removedAt }) => removedAt !== null);
    expect(rows.length).toBeGreaterThan(3);
    expect(rows.every(({ lastChangedAt, removedAt }) => lastChangedAt < (removedAt as string))).toBe(true);
    const relisted = (await plain(other)).filter(
      ({ kind, previousPrice }) => kind === 'RELISTED' && previousPrice !== null,
    );
    const last = relisted.at(-1);
    const row = JSON.parse((await other.get(`/items/${last?.item?.id}`)).text);
    expect(row.lastChangedAt >= (last?.observedAt as string)).toBe(true);
  });

  it('changedSince=event returns items removed or re-listed since then, although lastChangedAt stays', async () => {
    const since = '2026-11-20T06:00:00Z';
    const removed = async () =>
      (await found(other, `changedSince=${since}`)).filter(({ removedAt }) => (removedAt ?? '') > since);
    expect(await removed()).toEqual([]);
    other.sandbox.setReadings(['changedSince=event']);
    const gone = (await plain(other)).filter(({ kind, observedAt }) => kind === 'REMOVED' && observedAt > since);
    expect(gone.length).toBeGreaterThan(3);
    expect(await removed()).toHaveLength(gone.length);
    other.sandbox.setReadings(['changedSince=field']);
  });

  it('changes.price=absent, changes.attributes=prefixed and feed.title=null apply to the feed', async () => {
    const tell = async (service: Service) => {
      const changes = await plain(service);
      const moved = changes.filter(({ previousPrice }) => previousPrice !== null);
      const names = new Set(changes.flatMap((change) => Object.keys(change.changes)));
      const titles = new Set(changes.flatMap((one) => (one.item === null ? [] : [one.item.title])));
      const stock = [...names].filter((name) => name.endsWith('stock'));
      return {
        priced: moved.filter(({ changes: map }) => 'price' in map).length / moved.length,
        stock,
        untitled: titles.has(null),
      };
    };
    expect(await tell(usual)).toEqual({ priced: 1, stock: ['stock'], untitled: false });
    expect(await tell(other)).toEqual({ priced: 0, stock: ['attributes.stock'], untitled: true });
  });

  it.each(['slug', 'path'])(
    'changes.category=%s makes categories change, with the values in `changes`',
    async (value) => {
      expect((await plain(usual)).some(({ changes }) => 'category' in changes)).toBe(false);
      const from =
        value === 'slug' ? other : await Service.start({ ...WORLD, items: 150, readings: ['changes.category=path'] });
      const last = new Map(
        (await plain(from)).flatMap((one) => (one.changes.category ? [[one.item?.id, one.changes.category]] : [])),
      );
      expect(last.size).toBeGreaterThan(2);
      const rows = (await from.sandbox.dump()).items.map(parseRow);
      for (const row of rows) if (last.has(row.id)) expect(row.category[value]).toBe(last.get(row.id)?.[1]);
      if (from !== other) await from.close();
    },
  );

  it('csv.lines=crlf, csv.bom=yes and csv.lists=semicolon apply to CSV', async () => {
    const [lf, crlf] = [await usual.get('/export?status=all'), await other.get('/export?status=all')];
    expect(lf.text.startsWith('id,')).toBe(true);
    const headers = { authorization: `Bearer ${other.sandbox.keys.live}` };
    const bytes = await (await fetch(`${other.sandbox.baseUrl}/api/v1/export`, { headers })).arrayBuffer();
    expect(Buffer.from(bytes).toString('hex', 0, 5)).toBe('efbbbf6964');
    expect(crlf.text.split('\r\n').length).toBeGreaterThan(450);
    expect(crlf.text.endsWith('\r\n')).toBe(true);
    expect(lf.text).toContain(',"[""Consumer electronics"",""Central Europe""]",');
    expect(crlf.text).toContain(',Consumer electronics;Central Europe,');
  });

  it.each([
    ['seconds', /T\d\d:\d\d:\d\dZ$/],
    ['milliseconds', /T\d\d:\d\d:\d\d\.\d{3}Z$/],
    ['microseconds', /T\d\d:\d\d:\d\d\.\d{6}Z$/],
  ])(
    'timestamps=%s sets the digits of times, and changedSince with a shown time excludes its row',
    async (value, form) => {
      const readings = [`timestamps=${value}`];
      const from = value === 'milliseconds' ? other : await Service.start({ ...WORLD, items: 60, readings });
      const rows = await found(from, '');
      for (const row of rows)
        for (const time of [row.firstSeenAt, row.lastSeenAt, row.lastChangedAt]) expect(time).toMatch(form);
      for (const { observedAt } of await plain(from)) expect(observedAt).toMatch(form);
      const newest = rows[0]?.lastChangedAt;
      expect(await found(from, `changedSince=${newest}`)).toEqual([]);
      expect((await from.get('/export?status=all')).text).toContain(newest);
      if (from !== other) await from.close();
    },
  );

  it('timestamps can only be set at the start', () => {
    expect(() => usual.sandbox.setReadings(['timestamps=seconds'])).toThrow('restart the sandbox');
    usual.sandbox.setReadings(['timestamps=shortest']);
  });
});

describe('readings that affect single responses', () => {
  let service: Service;
  beforeAll(async () => {
    service = await Service.start({ ...WORLD, plan: 'pro', limits: { historyDays: 2 } });
  });
  afterAll(() => service.close());

  /** Runs a request under these readings, and restores the sandbox's readings afterwards. */
  async function under<T>(specs: string[], ask: () => Promise<T>): Promise<T> {
    const before = service.sandbox;
    const names = specs.map((spec) => spec.split('=')[0]);
    const defaults = new Readings().list().filter(({ name }) => names.includes(name));
    before.setReadings(specs);
    return ask().finally(() => before.setReadings(defaults.map(({ name, value }) => `${name}=${value}`)));
  }
  const status = async (path: string) => (await service.get(path)).status;

  it('can be set and read through the control endpoint', async () => {
    const call = async (body?: object) => {
      const init = body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) };
      const answer = await fetch(`${service.sandbox.baseUrl}/sandbox/readings`, init);
      return [answer.status, await answer.json()] as [number, { readings: Record<string, string>; message: string }];
    };
    expect((await call({ readings: ['lag.facets=60s'] }))[1].readings).toMatchObject({
      'lag.facets': '60s',
      replicas: '0s',
    });
    expect((await call())[1].readings).toMatchObject({ 'lag.facets': '60s' });
    const [refused, { message }] = await call({ readings: ['lag.facet=60s'] });
    expect([refused, message]).toEqual([400, expect.stringContaining('did you mean lag.facets?')]);
    await call({ readings: ['lag.facets=0s'] });
  });

  it('feed.oldCursor decides whether a cursor older than the history skips a gap, continues, or is refused', async () => {
    const lines = (await service.sandbox.dump()).changes;
    const [first = '', second] = lines.map((line) => /\d+/.exec(line)?.[0]);
    const path = `/changes?limit=1000&after=${first}`;
    const gap = await service.read(path, changePage);
    expect(gap.changes.length).toBeGreaterThan(0);
    expect(String(gap.changes[0]?.id)).not.toBe(second);
    const whole = await under(['feed.oldCursor=continue'], () => service.read(path, changePage));
    expect(String(whole.changes[0]?.id)).toBe(second);
    for (const value of [400, 410]) {
      const reading = [`feed.oldCursor=${value}`];
      expect(await under(reading, () => status(path))).toBe(value);
      expect(await under(reading, () => status('/changes?after=0'))).toBe(200);
      expect(await under(reading, () => status(`/changes?after=${gap.changes[0]?.id}`))).toBe(200);
    }
  });

  it('recentOnFree=402 refuses /changes/recent on a plan without the feed', async () => {
    service.sandbox.changeAccount({ limits: { changeFeed: false } });
    expect(await status('/changes/recent')).toBe(200);
    expect(await under(['recentOnFree=402'], () => status('/changes/recent'))).toBe(402);
    service.sandbox.changeAccount({ limits: {} });
    expect(await under(['recentOnFree=402'], () => status('/changes/recent'))).toBe(200);
  });

  it('products.offers=all also counts removed offers', async () => {
    const total = async () => {
      const { content } = await service.read('/products?size=200', productPage);
      return content.reduce((sum, { offers }) => sum + Number(offers), 0);
    };
    const [listed, all] = [await total(), await under(['products.offers=all'], total)];
    expect(all).toBeGreaterThan(listed);
    const gone = (await found(service, '')).find(({ gtin, removedAt }) => gtin !== null && removedAt !== null);
    const detail = await under(['products.offers=all'], () => service.read(`/products/${gone?.gtin}`, productDetail));
    expect(detail.offers.map(({ id }) => id)).toContain(gone?.id);
  });

  it('export.headers=always also sends headers with the value false', async () => {
    const headers = async () => {
      const answer = await service.get('/export?format=ndjson');
      return ['overage', 'truncated', 'matching'].map((name) => answer.headers.get(`x-export-${name}`));
    };
    expect(await headers()).toEqual([null, null, null]);
    expect(await under(['export.headers=always'], headers)).toEqual(['false', 'false', expect.stringMatching(/^\d+$/)]);
  });

  it('calls.refused decides whether 401, 402 and 429 count as calls', async () => {
    const used = async () => Number((await service.read('/plan', planInfo)).usage?.apiCalls);
    const costs = async () => {
      const account: typeof service.sandbox.changeAccount = (change) => service.sandbox.changeAccount(change);
      const start = await used();
      account({ revoked: ['live'] });
      expect(await status('/plan')).toBe(401);
      account({ revoked: [], limits: { changeFeed: false } });
      expect(await status('/changes')).toBe(402);
      account({ limits: { apiCallsPerMonth: 0 } });
      expect(await status('/plan')).toBe(429);
      account({ limits: {} });
      return (await used()) - start - 1;
    };
    expect(await costs()).toBe(1);
    expect(await under(['calls.refused=never'], costs)).toBe(0);
    expect(await under(['calls.refused=always'], costs)).toBe(3);
  });

  it('quotaHeaders changes the names of the headers', async () => {
    const names = async () =>
      [...(await service.get('/plan')).headers.keys()].filter((name) => name.startsWith('x-quota-'));
    expect(await names()).toContain('x-quota-api-calls-remaining');
    expect(await under(['quotaHeaders=short'], names)).toEqual(['x-quota-limit', 'x-quota-remaining', 'x-quota-reset']);
    expect(await under(['quotaHeaders=used'], names)).toEqual([
      ...['x-quota-calls-used', 'x-quota-reset', 'x-quota-rows-used'],
    ]);
  });

  it('unknownDataset makes requests return 400, 404 or nothing, but /facets always returns 404', async () => {
    const paths = ['/items', '/changes', '/changes/recent', '/products', '/export', '/facets'].map(
      (path) => `${path}?dataset=5`,
    );
    const statuses = () => Promise.all(paths.map(status));
    expect(await statuses()).toEqual([400, 400, 400, 400, 400, 404]);
    expect(await under(['unknownDataset=404'], statuses)).toEqual([404, 404, 404, 404, 404, 404]);
    expect(await under(['unknownDataset=empty'], statuses)).toEqual([200, 200, 200, 200, 200, 404]);
    const none = await under(['unknownDataset=empty'], () => service.read('/items?dataset=5', itemPage));
    expect(none).toMatchObject({ content: [], totalElements: 0n });
  });
});

describe('responses that lag behind the feed', () => {
  const LAGGING = [
    '/items?status=all&size=500&sort=-firstSeen',
    '/export?format=ndjson&status=all',
    '/facets',
    '/products?size=200',
  ];
  let service: Service;
  beforeAll(async () => {
    const readings = ['lists', 'exports', 'facets', 'products', 'items'].map((kind) => `lag.${kind}=120s`);
    service = await Service.start({ ...WORLD, readings });
  });
  afterAll(() => service.close());
  const texts = () =>
    Promise.all([...LAGGING, '/export?status=all'].map(async (path) => hash((await service.get(path)).text)));
  /** Lets time pass without changes, except for the times of scrapes. */
  const wait = (seconds: number) => service.sandbox.advance({ hours: seconds / 3600, changes: 0 });

  it('lag.lists, .exports, .facets, .products and .items show an earlier state until they catch up', async () => {
    const before = await texts();
    const { changes } = await service.sandbox.advance({ hours: 0.01, changes: 60 });
    const fresh = (await service.readFeed()).slice(-changes);
    expect(fresh).toHaveLength(60);
    expect(await texts()).toEqual(before);
    const moved = fresh.find(({ kind }) => kind === 'CHANGED');
    const added = fresh.find(({ kind }) => kind === 'NEW');
    const old = parse((await service.get(`/items/${moved?.item?.id}`)).text, item);
    expect(micros(old.lastChangedAt) < micros(moved?.observedAt ?? '')).toBe(true);
    expect((await service.get(`/items/${added?.item?.id}`)).status).toBe(404);
    await wait(300);
    const { items } = await service.sandbox.dump();
    expect((await service.get(`/items/${added?.item?.id}`)).status).toBe(200);
    const { text } = await service.get('/export?format=ndjson&status=all');
    // The last scrapes are not that long ago.
    const lines = (all: string) => all.replace(/"lastSeenAt":"[^"]*",/g, '').trimEnd();
    expect(hash(lines(text))).toBe(hash(lines(items.join('\n'))));
    const after = await service.read('/facets', facets);
    const listed = items.filter((line) => line.includes('"removedAt":null')).length;
    expect(after.sites.reduce((sum, site) => sum + Number(site.items), 0)).toBe(listed);
    expect((await service.read('/datasets', z.array(dataset))).length).toBeGreaterThan(0);
  });

  it.each([
    [[], 0],
    [['lag.items=1s'], 1],
  ])('readings %j keep earlier rows only if a response lags', async (specs, kept) => {
    const world = await World.create(new Readings(specs));
    const now = Date.parse('2026-11-20T06:00:00Z');
    await generateWorld(world, { seed: 1, items: 60, sites: 3, startAt: now, pastDays: 6 });
    world.livedUntil = now;
    if (world.readings.hasLag) world.keepPast(0);
    const clock = new SimulatedClock(new Date(now), 'frozen');
    await advanceWorld(world, clock, { hours: 0.01, changes: 30 });
    const rows = () => world.database.use((session) => session.row('SELECT count(*) AS rows FROM past'));
    expect(Math.sign(Number((await rows())?.rows))).toBe(kept);
    await advanceWorld(world, clock, { hours: 2, changes: 0 });
    await advanceWorld(world, clock, { hours: 0.01, changes: 0 });
    expect(Number((await rows())?.rows)).toBe(0);
    await world.close();
  });

  it('each lag has its own duration, and 0s shows the current state', async () => {
    service.sandbox.setReadings(['lag.items=0s', 'lag.lists=30s']);
    await service.sandbox.advance({ hours: 0.01, changes: 40 });
    const fresh = (await service.readFeed()).at(-1);
    const id = fresh?.item?.id;
    const single = parse((await service.get(`/items/${id}`)).text, item);
    expect(single.lastChangedAt).toBe(fresh?.observedAt);
    const shown = async (path: string) =>
      (await service.get(path)).text.includes(`"lastChangedAt":"${fresh?.observedAt}"`);
    expect(await shown(LAGGING[0] as string)).toBe(false);
    await wait(SECONDS_90 * 3600);
    expect([await shown(LAGGING[0] as string), await shown(LAGGING[1] as string)]).toEqual([true, false]);
  });

  it('replicas: a later response may be older than an earlier one', async () => {
    service.sandbox.setReadings(['lag.lists=0s', 'replicas=300s']);
    await service.sandbox.advance({ hours: 0.01, changes: 40 });
    const fresh = (await service.readFeed()).findLast(({ kind }) => kind === 'CHANGED');
    await wait(SECONDS_90 * 3600);
    const seen: boolean[] = [];
    for (let k = 0; k < 24; k++) {
      const { lastChangedAt } = parse((await service.get(`/items/${fresh?.item?.id}`)).text, item);
      seen.push(lastChangedAt === fresh?.observedAt);
    }
    expect(seen.some((isNew, k) => isNew && seen[k + 1] === false)).toBe(true);
    expect(seen.some((isNew, k) => !isNew && seen[k + 1] === true)).toBe(true);
  });
});

function hash(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}
