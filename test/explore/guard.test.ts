/** Tests who may read the pages, and what SQL may access. */
import { readdir, readFile } from 'node:fs/promises';
import { request } from 'node:http';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createGuard } from '../../src/explore/guard.js';
import { copyMarket, type Explored, explore, type StoryLake } from './explored.js';

let explored: Explored<StoryLake>;
beforeAll(async () => {
  explored = await explore(await copyMarket());
});
afterAll(async () => {
  await explored.close();
  await explored.story.close();
});

/** fetch sets Host and Sec-Fetch-Mode itself. */
function askWith(given: Record<string, string>, path: string): Promise<number | undefined> {
  const { hostname, port, searchParams } = new URL(explored.url);
  const headers = { ...given, cookie: `pricelake-token=${searchParams.get('token')}` };
  return new Promise((resolve, reject) => {
    request({ hostname, port, path, headers }, (answer) => resolve(answer.resume().statusCode))
      .on('error', reject)
      .end();
  });
}

const askAs = (host: string, path: string) => askWith({ host }, path);

test.each(['/', '/products', '/page.css', '/page.js', '/analyses/movers.csv', '/none', '/?token=', '/?token=x'])(
  'without the secret, %s reveals nothing',
  async (path) => {
    const answer = await fetch(`${explored.base}${path}`);
    expect(answer.status).toBe(403);
    expect(await answer.text()).toMatch(/^Open the address that/u);
  },
);

test('the printed address opens the pages, and the secret is removed from the address', async () => {
  const answer = await fetch(`${explored.url}&since=day`, { redirect: 'manual' });
  expect(answer.status).toBe(302);
  expect(answer.headers.get('location')).toBe('/?since=day');
  const cookie = answer.headers.get('set-cookie') ?? '';
  expect(cookie).toMatch(/^pricelake-token=[\w-]{32}; .*HttpOnly; SameSite=Strict$/u);
  const page = await fetch(`${explored.base}/`, { headers: { cookie: cookie.split(';')[0] ?? '' } });
  expect(page.status).toBe(200);
});

test('a request under another host name that resolves to this machine gets nothing', async () => {
  const { port } = new URL(explored.url);
  expect(await askAs(`127.0.0.1:${port}`, '/')).toBe(200);
  expect(await askAs(`localhost:${port}`, '/')).toBe(200);
  expect(await askAs(`evil.example:${port}`, '/')).toBe(421);
  expect(await askAs('127.0.0.1', '/')).toBe(421);
});

test.each(['//evil.example/', '///evil.example/x', '/%5Cevil.example/'])(
  'an address such as %s with the secret never redirects to another server',
  async (path) => {
    const { hostname, port, search } = new URL(explored.url);
    const location = await new Promise<string | undefined>((resolve, reject) => {
      request({ hostname, port, path: `${path}${search}` }, (answer) => resolve(answer.resume().headers.location))
        .on('error', reject)
        .end();
    });
    expect(new URL(location ?? '', explored.base).host).toBe(new URL(explored.base).host);
  },
);

test("a page on another port gets nothing with this server's cookie, but may link to it", async () => {
  const site = { 'sec-fetch-site': 'same-site' };
  const ask = (headers: Record<string, string>) => askWith(headers, '/sql?sql=SELECT+1');
  expect(await ask({ ...site, 'sec-fetch-mode': 'no-cors', 'sec-fetch-dest': 'image' })).toBe(403);
  expect(await ask({ ...site, 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'iframe' })).toBe(403);
  expect(await ask({ ...site, 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'document' })).toBe(200);
});

test('a server on all addresses accepts IP addresses, but no names', () => {
  const { isOwnHost } = createGuard('0.0.0.0', 80);
  expect(['192.168.1.2:80', '[fe80::1]:80', 'localhost:80'].map(isOwnHost)).toEqual([true, true, true]);
  expect(['evil.example:80', '1.2.3.4.evil.example:80', undefined].map(isOwnHost)).toEqual([false, false, false]);
});

test('the SQL page refuses a POST request', async () => {
  expect((await explored.get('/sql', { method: 'POST', body: 'sql=SELECT+1' })).status).toBe(405);
});

test('pages run only their own script, and request nothing from other hosts', async () => {
  const { headers } = await explored.get('/');
  expect(headers.get('content-security-policy')).toBe(
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src data:; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
  );
  // Other hosts get no address; with no-referrer, browsers would hide the origin of this server's own forms.
  expect(headers.get('referrer-policy')).toBe('same-origin');
  expect(headers.get('cache-control')).toBe('no-store');
});

test.each([
  ["SELECT * FROM read_text('/etc/hostname')", /read_text\(\) is not allowed/u],
  ["SELECT * FROM glob('/etc/*')", /glob\(\) is not allowed/u],
  ["SELECT * FROM '/etc/passwd'", /files can.{1,6}t be read as tables/u],
  ["SELECT * FROM enable_profiling(save_location='x')", /enable_profiling\(\) is not allowed/u],
  ["SELECT * FROM enable_logging(storage='file')", /enable_logging\(\) is not allowed/u],
  ["SELECT repeat('x', 900000000)", /repeat\(\) is not allowed here, because/u],
  ['SELECT len(range(100000000))', /range\(\) is not allowed here, because/u],
  ["COPY (SELECT 1) TO '/tmp/x.csv'", /COPY is not allowed/u],
  ["ATTACH '/tmp/x.db'", /ATTACH is not allowed/u],
  ['INSTALL httpfs', /INSTALL is not allowed/u],
  ['SET enable_external_access = true', /SET is not allowed/u],
  ['DROP TABLE product_cards', /DROP is not allowed/u],
  ['SELECT 1; SELECT 2', /2 statements/u],
  ['SELEC 1', /syntax|SELEC is not allowed/iu],
])('the page refuses SQL such as %s', async (sql, reason) => {
  const page = await explored.page(`/sql?sql=${encodeURIComponent(sql)}`);
  const [, alert = ''] = /role="alert"><pre>([\s\S]*?)<\/pre>/u.exec(page) ?? [];
  expect(alert).toMatch(reason);
});

test("SQL can't read files in the lake’s private folder", async () => {
  const file = join(explored.story.lakePath, '_pricelake', 'format.json');
  const page = await explored.page(`/sql?sql=${encodeURIComponent(`SELECT * FROM read_text('${file}')`)}`);
  expect(page).toMatch(/role="alert"><pre>read_text\(\) is not allowed/u);
});

test("SQL can't write to the lake through DuckDB's settings", async () => {
  const file = join(explored.story.lakePath, 'items', '_delta_log', '00000000000000000000.json');
  const before = await readFile(file, 'utf8');
  await explored.page(
    `/sql?sql=${encodeURIComponent(`FROM enable_profiling(format='json', save_location='${file}')`)}`,
  );
  const logs = `FROM enable_logging(storage='file', storage_config={'path': '${join(explored.story.lakePath, 'items', 'logs')}'})`;
  await explored.page(`/sql?sql=${encodeURIComponent(logs)}`);
  expect(await explored.page('/sql?sql=SELECT+1')).toContain('1 row in');
  expect(await readFile(file, 'utf8')).toBe(before);
  expect(await readdir(join(explored.story.lakePath, 'items'))).not.toContain('logs');
});
