import { expect, test } from 'vitest';
import { buildQuery, parseBaseUrl, resolvePath } from '../../src/api/api-url.js';
import { PricelakeError } from '../../src/io/errors.js';

test('a base URL may have a path prefix and a trailing slash', () => {
  expect(parseBaseUrl('https://api.example.com/prices/')).toEqual({
    origin: 'https://api.example.com',
    host: 'api.example.com:443',
    prefix: '/prices',
    cleartext: false,
  });
});

test('http counts as clear text unless the host is loopback', () => {
  expect(parseBaseUrl('http://api.example.com').cleartext).toBe(true);
  for (const url of ['http://localhost:1', 'http://127.0.0.1', 'http://[::1]:8080']) {
    expect(parseBaseUrl(url).cleartext).toBe(false);
  }
});

test.each([
  ['', 'is not an http or https URL'],
  ['api.example.com', 'is not an http or https URL'],
  ['ftp://api.example.com', 'is not an http or https URL'],
  ['https://user:secret@api.example.com', 'contains credentials'],
  ['https://user@api.example.com', 'contains credentials'],
  ['https://:secret@api.example.com', 'contains credentials'],
  ['https://api.example.com/#secret', 'has a query or a fragment'],
  ['https://api.example.com/x/api/v1//', 'ends with /api/v1'],
  ['https://api.example.com/?token=secret', 'has a query or a fragment'],
  ['https://api.example.com/api/v1/', 'ends with /api/v1'],
])('the base URL %j is refused because it %s', (url, message) => {
  const error = captureError(() => parseBaseUrl(url));
  expect(error.code).toBe('config');
  expect(error.message).toBe(`source.baseUrl ${message}`);
  expect(error.facts.hint).toBeTruthy();
  expect(error.message).not.toContain('secret');
});

test('the port defaults to that of the scheme, and only complete loopback names count as loopback', () => {
  expect(parseBaseUrl('http://a.example').host).toBe('a.example:80');
  expect(parseBaseUrl('https://a.example:8443').host).toBe('a.example:8443');
  for (const host of ['x.localhost', 'localhost.example', 'my127.0.0.1.example', '127.0.0.1.example']) {
    expect(parseBaseUrl(`http://${host}`).cleartext).toBe(true);
  }
  expect(parseBaseUrl('http://127.10.20.30').cleartext).toBe(false);
  expect(resolvePath('/items/a..')).toBe('/api/v1/items/a..');
  expect(resolvePath('/items/..a')).toBe('/api/v1/items/..a');
  expect(resolvePath('/items/%a')).toBe('/api/v1/items/%25a');
});

test('a path is the same with and without /api/v1', () => {
  expect(resolvePath('/items')).toBe('/api/v1/items');
  expect(resolvePath('/api/v1/items')).toBe('/api/v1/items');
  expect(resolvePath('items')).toBe('/api/v1/items');
});

test('characters that are invalid in a path are percent-encoded, and none are encoded twice', () => {
  expect(resolvePath('/products/ü x?a#b%2F%zz')).toBe('/api/v1/products/%C3%BC%20x%3Fa%23b%2F%25zz');
  expect(resolvePath('/products/👟')).toBe('/api/v1/products/%F0%9F%91%9F');
});

test("refuses a path with dot segments, so a call can't leave the API", () => {
  for (const id of ['..', '.']) {
    expect(captureError(() => resolvePath(`/products/${id}`))).toMatchObject({
      code: 'usage',
      message: expect.stringContaining(`"/products/${id}"`),
    });
  }
  expect(captureError(() => resolvePath('/products/%2E%2e/plan')).code).toBe('usage');
});

test('query values are percent-encoded, undefined values are omitted, and times are rounded down', () => {
  const query = { q: 'a+b & ü=1', dataset: 9007199254740993n, page: 0, all: false, site: undefined };
  expect(buildQuery(query)).toBe('?q=a%2Bb%20%26%20%C3%BC%3D1&dataset=9007199254740993&page=0&all=false');
  expect(buildQuery({ site: undefined })).toBe('');
  // An earlier changedSince is safe; a later one could miss changes.
  for (const time of ['2026-11-20T05:00:00.123999Z', '1969-11-20T05:00:00.123999+00:00']) {
    expect(buildQuery({ changedSince: new Date(time) })).toBe(
      `?changedSince=${time.slice(0, 4)}-11-20T05%3A00%3A00.123Z`,
    );
  }
});

test('a lone surrogate in a query is replaced, and does not throw', () => {
  expect(buildQuery({ q: 'x\ud83d' })).toBe('?q=x%EF%BF%BD');
});

function captureError(call: () => unknown): PricelakeError {
  try {
    call();
  } catch (error) {
    if (error instanceof PricelakeError) return error;
  }
  return expect.unreachable('a PricelakeError should have been thrown');
}
