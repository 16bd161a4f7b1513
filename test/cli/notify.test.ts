// biome-ignore-all lint/suspicious/noTemplateCurlyInString: variables of pipeline files look like this
import { cp, mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { changeText, openWorld, readLake, refuse } from '../run/world.js';
import { openReceiver, TOKEN } from './notify-receiver.js';
import { type Outcome, runHere } from './pricelake.js';

const PIPELINE = `source: { baseUrl: "\${BASE_URL}", apiKey: "\${KEY}" }
lake: { path: ./lake }
proof: { sample: 0, products: false, facets: false }
`;
const NOTIFY = 'notify: [{ url: "${ALERT_URL}", secret: "${ALERT_SECRET}", staleAfter: 48h }]\n';
const ALERT_SECRET = 'signing-secret-x9';
const HOUR_MS = 3_600_000;

const world = await openWorld({ items: 500, sites: 12, pastDays: 5 });
afterAll(() => world.close());
let cwd = '';
let folders = 0;
beforeEach(async () => {
  cwd = path.join(world.folder, `notify-${++folders}`);
  await mkdir(cwd);
});
afterEach(() => {
  world.intercept = undefined;
  world.sandbox.changeAccount({ limits: { ratePerSecond: null, apiCallsPerMonth: null } });
  vi.useRealTimers();
});

/** Runs a command in the folder of the test. Neither its output nor any file of the folder may hold an address or a secret. */
async function run(args: string[], ...addresses: string[]): Promise<Outcome> {
  const [ALERT_URL = '', SLACK_URL = ''] = addresses;
  const env = { BASE_URL: world.sandbox.baseUrl, KEY: world.sandbox.keys.live, ALERT_URL, SLACK_URL, ALERT_SECRET };
  const outcome = await runHere([...args, '-vv'], { cwd, env });
  const names = await readdir(cwd, { recursive: true, withFileTypes: true });
  const texts = names
    .filter((entry) => entry.isFile())
    .map(async (entry) => (await readFile(path.join(entry.parentPath, entry.name))).toString('latin1'));
  const all = [outcome.stdout, outcome.stderr, ...(await Promise.all(texts))].join('\n');
  expect([all.includes(TOKEN), all.includes(ALERT_SECRET)]).toEqual([false, false]);
  return outcome;
}

/** A lake after one run and without any message, created once. */
let template: Promise<string> | undefined;
async function copyLake(): Promise<void> {
  template ??= (async () => {
    const folder = path.join(world.folder, 'template');
    await mkdir(folder);
    await writeFile(path.join(folder, 'prices.yaml'), PIPELINE);
    const env = { BASE_URL: world.sandbox.baseUrl, KEY: world.sandbox.keys.live };
    expect((await runHere(['sync'], { cwd: folder, env })).code).toBe(0);
    return path.join(folder, 'lake');
  })();
  await cp(await template, path.join(cwd, 'lake'), { recursive: true });
}

const write = (name: string, text: string) => writeFile(path.join(cwd, name), text);
const readNotices = (deliveries: readonly { body: string }[]) =>
  deliveries.map(({ body }) => (JSON.parse(body) as { notices: Record<string, unknown>[] }).notices);

/** Settings whose gate check holds the batch. */
const GATE = 'checks: { currency_iso_4217: { severity: gate } }\n';
const WRONG_CURRENCY = changeText(/\/export$/, (text) => text.replaceAll(/"currency":"[A-Z]+"/g, '"currency":"XXQ"'));

describe('sync', () => {
  test('sends no message about a successful run, and one about a held batch', async () => {
    const { deliveries, address } = await openReceiver();
    await write('prices.yaml', PIPELINE + NOTIFY + GATE);
    world.intercept = WRONG_CURRENCY;
    for (const _ of [1, 2]) expect((await run(['sync'], address)).code).toBe(3);
    expect(readNotices(deliveries)).toMatchObject([
      [{ kind: 'held', code: 'gate_failed', exit_code: 3, checks: [expect.stringMatching(/^currency_iso_4217 \d+$/)] }],
    ]);
    expect(deliveries[0]?.headers['service-signature']).toMatch(/^t=\d+,v1=[0-9a-f]{64}$/);
    await write('prices.yaml', PIPELINE + NOTIFY);
    world.intercept = undefined;
    expect((await run(['sync'], address)).code).toBe(0);
    expect(deliveries).toHaveLength(1);
  });

  test('keeps an unsent message for the next run, without changing the exit code', async () => {
    const { deliveries, address } = await openReceiver((response) => response.writeHead(404).end());
    await write('prices.yaml', PIPELINE + NOTIFY);
    world.intercept = () => Promise.resolve(refuse(401));
    const failed = await run(['sync'], address);
    expect(failed.code).toBe(4);
    expect(failed.stderr).toMatch(/"event":"notify.failed".*"reason":"it returned 404"/);
    world.intercept = undefined;
    const again = await run(['sync'], address);
    expect(again.code).toBe(0);
    const open = await openReceiver();
    expect((await run(['sync'], open.address)).code).toBe(0);
    expect(readNotices(open.deliveries)).toEqual(readNotices(deliveries.slice(0, 1)));
    expect(readNotices(open.deliveries)).toMatchObject([[{ kind: 'failed', code: 'unauthorized', exit_code: 4 }]]);
    expect((await run(['sync'], open.address)).code).toBe(0);
    expect(open.deliveries).toHaveLength(1);
  });

  test('sends a message again with its id, and newer notices in another message', async () => {
    const { deliveries, address } = await openReceiver((response, n) => response.writeHead(n <= 2 ? 404 : 200).end());
    await write('prices.yaml', PIPELINE + NOTIFY);
    await copyLake();
    for (const status of [401, 402]) {
      world.intercept = () => Promise.resolve(refuse(status));
      expect((await run(['sync'], address)).code).toBe(4);
    }
    world.intercept = undefined;
    expect((await run(['sync'], address)).code).toBe(0);
    const sent = deliveries.map(({ body }) => JSON.parse(body) as { id: string; created_at: string });
    const [first, second, third, other] = sent;
    expect(sent).toHaveLength(4);
    expect([second, third]).toEqual([first, first]);
    expect(deliveries.map(({ headers }) => headers['service-event-id'])).toEqual(sent.map(({ id }) => id));
    expect(other?.id).not.toBe(first?.id);
    const codes = readNotices(deliveries).map((notices) => notices.map(({ code }) => code));
    expect(codes).toEqual([['unauthorized'], ['unauthorized'], ['unauthorized'], ['plan_refuses']]);
  });

  test('reports the same failure again after a successful run', async () => {
    const { deliveries, address } = await openReceiver();
    await write('prices.yaml', PIPELINE + NOTIFY);
    await copyLake();
    for (const isRefused of [true, true, false, true]) {
      world.intercept = isRefused ? () => Promise.resolve(refuse(401)) : undefined;
      expect((await run(['sync'], address)).code).toBe(isRefused ? 4 : 0);
    }
    expect(readNotices(deliveries).map(([notice]) => notice?.kind)).toEqual(['failed', 'failed']);
  });

  test('reports once that the lake has not been up to date for longer than staleAfter', async () => {
    const { deliveries, address } = await openReceiver();
    await write('prices.yaml', PIPELINE + NOTIFY);
    await copyLake();
    world.intercept = () => Promise.resolve(new Response('{}', { status: 503, headers: { 'retry-after': '3600' } }));
    const start = Date.now();
    for (const hours of [47, 49, 50]) {
      vi.useFakeTimers({ toFake: ['Date'], now: start + hours * HOUR_MS });
      expect((await run(['sync'], address)).code).toBe(75);
    }
    const [[notice] = [], ...others] = readNotices(deliveries);
    expect(others).toEqual([]);
    expect(notice).toMatchObject({ kind: 'stale' });
    expect(Date.parse(String(notice?.at))).toBeGreaterThanOrEqual(start + 49 * HOUR_MS);
    expect(notice?.text).toMatch(/last up to date (48 h 59 min|49 h 0 min) ago/);
  });

  test('reports once a month that less than a tenth of the calls is left', async () => {
    const { deliveries, address } = await openReceiver();
    await write('prices.yaml', PIPELINE + NOTIFY);
    const headers = { authorization: `Bearer ${world.sandbox.keys.live}` };
    const ask = async () => (await fetch(`${world.sandbox.baseUrl}/api/v1/plan`, { headers })).json();
    for (let calls = 0; calls < 150; calls += 1) await ask();
    const { apiCalls } = ((await ask()) as { usage: { apiCalls: number } }).usage;
    await copyLake();
    await write('prices.yaml', `${PIPELINE}${NOTIFY}budget: { calls: ${apiCalls + 15} }\n`);
    for (const _ of [1, 2]) await run(['sync'], address);
    expect(readNotices(deliveries)).toMatchObject([
      [{ kind: 'budget', what: 'calls', rule: 'budget.calls', allowed: String(apiCalls + 15) }],
    ]);
  });

  test('takes receivers from the command line by the names of variables', async () => {
    const { deliveries, address } = await openReceiver();
    await write('prices.yaml', PIPELINE);
    world.intercept = () => Promise.resolve(refuse(401));
    const flags = ['--notify', 'slack:SLACK_URL', '--notify', 'url:ALERT_URL:ALERT_SECRET'];
    expect((await run(['sync', ...flags], address, address)).code).toBe(4);
    expect(deliveries.map(({ body }) => Object.keys(JSON.parse(body) as object)[0]).sort()).toEqual(['id', 'text']);
    expect(deliveries.filter(({ headers }) => 'service-signature' in headers)).toHaveLength(1);
  });

  test('sends a message once to a receiver in both the pipeline file and the command line', async () => {
    const { deliveries, address } = await openReceiver();
    await write('prices.yaml', PIPELINE + NOTIFY);
    world.intercept = () => Promise.resolve(refuse(401));
    const flags = ['--notify', 'url:ALERT_URL', '--notify', 'url:ALERT_URL:ALERT_SECRET'];
    expect((await run(['sync', ...flags], address)).code).toBe(4);
    expect(deliveries).toHaveLength(1);
    expect(deliveries[0]?.headers['service-signature']).toMatch(/^t=/);
  });

  test.each([
    [`slack:https://hooks.example/${TOKEN}`, '--notify is not a valid receiver'],
    ['slack:NOT_SET', '--notify slack:NOT_SET refers to a variable that is not set'],
    ['url:BASE_URL:NOT_SET', 'refers to a variable that is not set'],
    ['url:KEY', '--notify url:KEY must be a URL'],
  ])('refuses --notify %s without repeating an address', async (flag, message) => {
    await write('prices.yaml', PIPELINE);
    const { code, stderr } = await run(['sync', '--notify', flag]);
    expect([code, stderr]).toEqual([2, expect.stringContaining(message)]);
    expect(await readdir(cwd)).toEqual(['prices.yaml']);
  });

  test('reports a folder with other content, and writes nothing into it', async () => {
    const { deliveries, address } = await openReceiver();
    await write('prices.yaml', PIPELINE.replace('./lake', '.') + NOTIFY);
    expect((await run(['sync'], address)).code).toBe(2);
    expect(readNotices(deliveries)).toMatchObject([[{ kind: 'failed', code: 'lake_invalid' }]]);
    expect(await readdir(cwd)).toEqual(['prices.yaml']);
  });

  test('ignores a damaged record of sent messages', async () => {
    const { deliveries, address } = await openReceiver();
    await write('prices.yaml', PIPELINE + NOTIFY);
    await copyLake();
    world.intercept = () => Promise.resolve(refuse(401));
    await run(['sync'], address);
    await write('lake/_pricelake/notify.json', '{"version":1,"receivers":{"url 1":{}}}');
    const { code, stderr } = await run(['sync'], address);
    expect([code, deliveries.length]).toEqual([4, 2]);
    expect(stderr).toContain('notify.memory_unread');
  });
});

describe('watch', () => {
  interface Offer {
    site: string;
    shop: string;
    price: string;
    counted: boolean;
  }

  /** Finds a product with several prices, and each shop's lowest price that counts, cheapest first. */
  async function findProduct(spread = "grade <> 'C' AND NOT contains(grade_reason, 'the offer at')") {
    const rows = await readLake(path.join(cwd, 'lake'), (glob) => {
      return `SELECT product_id, currency, site_id::VARCHAR, sites.name, offers.price::VARCHAR, is_counted::VARCHAR
        FROM ${glob('offers')} AS offers JOIN ${glob('sites')} AS sites USING (site_id)
        SEMI JOIN (FROM ${glob('price_spread')} WHERE ${spread}) USING (product_id, currency)
        WHERE is_current AND regexp_full_match(product_id, '[0-9]+') ORDER BY product_id, currency`;
    });
    const products = new Map<string, Offer[]>();
    for (const [product, currency, site, shop, price, counted] of rows as string[][]) {
      const key = `${product} ${currency}`;
      products.set(key, [...(products.get(key) ?? []), { site, shop, price, counted: counted === 'true' } as Offer]);
    }
    for (const [key, offers] of products) {
      const cheapest = new Map<string, number>();
      for (const { shop, price, counted } of offers) {
        if (counted && Number(price) > 0) cheapest.set(shop, Math.min(Number(price), cheapest.get(shop) ?? Infinity));
      }
      const asked = [...cheapest].sort(([, a], [, b]) => a - b);
      const [product, currency] = key.split(' ') as [string, string];
      const [first, second] = [...new Set(asked.map(([, price]) => price))];
      if (first !== undefined && second !== undefined) return { product, currency, asked, first, second };
    }
    return expect.unreachable('no product has two prices');
  }

  test('reports each shop below the lowest allowed price once, then only new ones', async () => {
    const { deliveries, address } = await openReceiver();
    await write('prices.yaml', PIPELINE + NOTIFY);
    await copyLake();
    const { product, currency, asked, first, second } = await findProduct();
    const list = async (lowest: number) => {
      await write('mine.csv', `product,price,currency,lowest\n${product},${lowest + 1},${currency},${lowest}\n`);
      return (await run(['watch', 'prices.yaml', '--list', 'mine.csv', '--json'], address)).code;
    };
    const below = (bound: number) => asked.filter(([, price]) => price < bound).map(([shop]) => shop);
    const [few, more] = [Math.round((first + second) * 50) / 100, second + 0.01];
    for (const bound of [few, few, more]) expect(await list(bound)).toBe(7);
    const [before = [], after = [], ...others] = readNotices(deliveries);
    expect(others).toEqual([]);
    expect(before.map(({ shop }) => shop)).toEqual(below(few));
    expect(after.map(({ shop }) => shop)).toEqual(below(more).filter((shop) => !below(few).includes(shop)));
    expect(before[0]).toMatchObject({ kind: 'price', product, currency, product_id: product, alarm: 'sure' });
    expect(Number(before[0]?.price)).toBe(first);
    // The alarm ends, and comes back.
    expect(await list(0.01)).toBe(0);
    expect(await list(few)).toBe(7);
    expect(
      readNotices(deliveries)
        .at(-1)
        ?.map(({ shop }) => shop),
    ).toEqual(below(few));
    expect(deliveries).toHaveLength(3);
    // With suspects, watch notifies nobody.
    await run(['watch', 'prices.yaml', '--list', 'mine.csv', '--with-suspects'], address);
    expect(deliveries).toHaveLength(3);
  });

  test('reports an unsure alarm only with --unsure, with the reason', async () => {
    const { deliveries, address } = await openReceiver();
    await write('prices.yaml', PIPELINE + NOTIFY);
    await copyLake();
    const { product, currency, first, second } = await findProduct("starts_with(grade_reason, 'two shops, ')");
    const lowest = (first + second) / 2;
    await write('mine.csv', `product,price,currency,lowest\n${product},${second},${currency},${lowest.toFixed(2)}\n`);
    const watch = ['watch', 'prices.yaml', '--list', 'mine.csv'];
    expect((await run(watch, address)).code).toBe(0);
    expect(deliveries).toEqual([]);
    expect((await run([...watch, '--unsure'], address)).code).toBe(7);
    const because = `two shops, ${(second / first).toFixed(2)} times apart`;
    expect(readNotices(deliveries)).toMatchObject([
      [{ kind: 'price', product, alarm: 'unsure', unsure_because: because, text: expect.stringContaining(because) }],
    ]);
  });

  test('reports a shop that is the only one to sell the product', async () => {
    const { deliveries, address } = await openReceiver();
    await write('prices.yaml', PIPELINE + NOTIFY);
    await copyLake();
    const [[product, currency, price] = []] = (await readLake(path.join(cwd, 'lake'), (glob) => {
      return `SELECT product_id, any_value(currency), max(price)::VARCHAR FROM ${glob('items')}
        WHERE is_listed AND regexp_full_match(product_id, '[0-9]+') AND price > 1
        GROUP BY product_id HAVING count(*) = 1 ORDER BY product_id`;
    })) as string[][];
    const own = (Number(price) + 0.01).toFixed(2);
    await write('mine.csv', `product,price,currency,lowest\n${product},${own},${currency},${own}\n`);
    expect((await run(['watch', 'prices.yaml', '--list', 'mine.csv'], address)).code).toBe(7);
    expect(readNotices(deliveries)).toMatchObject([[{ product, alarm: 'sure', unsure_because: null }]]);
  });

  test('keeps an unsent alarm beside its state, and still exits with 7', async () => {
    const refusing = await openReceiver((response) => response.writeHead(400).end());
    await write('prices.yaml', PIPELINE);
    await copyLake();
    const { product, currency, asked } = await findProduct();
    const lowest = (asked[0]?.[1] ?? 0) + 0.01;
    await write('mine.csv', `product,price,currency,lowest\n${product},${lowest + 5},${currency},${lowest}\n`);
    const watch = ['watch', '--lake', 'lake', '--list', 'mine.csv', '--notify', 'url:ALERT_URL'];
    const failed = await run(watch, refusing.address);
    expect([failed.code, failed.stderr]).toEqual([7, expect.stringContaining('notify.failed')]);
    expect(await readdir(cwd)).toContain('mine.csv.watch.parquet.notify.json');
    const { deliveries, address } = await openReceiver();
    expect((await run(watch, address)).code).toBe(7);
    expect((await run(watch, address)).code).toBe(7);
    expect(readNotices(deliveries)).toEqual(readNotices(refusing.deliveries));
  });
});
