import { describe, expect, test } from 'vitest';
import type { PricelakeError } from '../../src/io/errors.js';
import { readFeedPage, readItemPage, readLastChanged, readProductPage } from '../../src/source/page.js';

function catchError(work: () => unknown): PricelakeError {
  try {
    work();
  } catch (error) {
    return error as PricelakeError;
  }
  return expect.unreachable('it should have thrown');
}

describe('a page of the feed', () => {
  test('has the positions of its changes, whether more are waiting, and the exact cursor', () => {
    const body = Buffer.from(
      '{"changes":[{"id":9007199254740992},{"kind":"NEW","id":9007199254740993}],"hasMore":true,"nextCursor":9007199254740993,"new":[1]}',
    );
    const page = readFeedPage(body, 9007199254740991n);
    expect(page).toMatchObject({ hasMore: true, shown: 9007199254740993n, nextCursor: 9007199254740993n });
    expect(page.changes.map(({ start, end }) => body.toString('utf8', start, end))).toEqual([
      '{"id":9007199254740992}',
      '{"kind":"NEW","id":9007199254740993}',
    ]);
  });

  test('may be empty if it is the last', () => {
    for (const nextCursor of [',"nextCursor":7', ',"nextCursor":0', ',"nextCursor":null', '']) {
      const body = Buffer.from(`{"changes":[],"hasMore":false${nextCursor}}`);
      expect(readFeedPage(body, 7n)).toMatchObject({ changes: [], shown: 7n, hasMore: false, nextCursor: 7n });
    }
  });

  test('may have changes but no cursor if it is the last: the feed continues after its last change', () => {
    for (const nextCursor of [',"nextCursor":0', ',"nextCursor":null', '']) {
      const body = Buffer.from(`{"changes":[{"id":8},{"id":9},{"id":null}],"hasMore":false${nextCursor}}`);
      expect(readFeedPage(body, 7n)).toMatchObject({ shown: 9n, hasMore: false, nextCursor: 9n });
    }
  });

  test('may contain a change with an invalid id, so that typing rejects only that change', () => {
    const body = Buffer.from(
      '{"changes":[{"id":8},{"id":"9"},{"kind":"NEW"},{"id":10},{"id":null}],"hasMore":false,"nextCursor":10}',
    );
    const page = readFeedPage(body, 7n);
    expect([page.changes.length, page.shown]).toEqual([5, 10n]);
  });

  test.each([
    ['<html>Welcome</html>', 'not JSON at byte 0'],
    ['{"hasMore":false,"nextCursor":7}', '"changes" is missing'],
    ['{"changes":[],"nextCursor":7}', '"hasMore" is missing'],
    ['{"changes":[],"hasMore":"no","nextCursor":7}', '"no" at byte 24 is not a boolean'],
    ['{"changes":{},"hasMore":false,"nextCursor":7}', '"changes" is not an array'],
    [
      '{"changes":[],"hasMore":true,"nextCursor":null}',
      'hasMore is true, but nextCursor is null, not a 64-bit integer',
    ],
    ['{"changes":[{"id":8}],"hasMore":true}', 'hasMore is true, but nextCursor is missing, not a 64-bit integer'],
    ['{"changes":[{"id":8}],"hasMore":true,"nextCursor":0}', 'nextCursor 0 is before the cursor 7'],
    ['{"changes":[{"id":8}],"hasMore":false,"nextCursor":"8"}', ': nextCursor is "8", not a 64-bit integer'],
    [
      '{"changes":[],"hasMore":false,"nextCursor":9223372036854775808}',
      ': nextCursor is 9223372036854775808, not a 64-bit integer',
    ],
    ['{"changes":[],"hasMore":false,"nextCursor":6}', 'nextCursor 6 is before the cursor 7'],
    ['{"changes":[],"hasMore":true,"nextCursor":7}', "nextCursor doesn't advance"],
    ['{"changes":[{"id":8},"hasMore":false,"nextCursor":8}', 'not JSON'],
    ['{"changes":[{"id":9},{"id":8}],"hasMore":false,"nextCursor":9}', 'change 8 comes after 9'],
    ['{"changes":[{"id":8},{"id":8}],"hasMore":false,"nextCursor":8}', 'change 8 comes after 8'],
    ['{"changes":[{"id":7}],"hasMore":false,"nextCursor":9}', 'change 7 comes after 7'],
    ['{"changes":[{"id":8},{"id":9}],"hasMore":false,"nextCursor":8}', 'nextCursor 8 is before change 9'],
  ])('with %s is refused, and the error shows how it starts', (body, reason) => {
    const error = catchError(() => readFeedPage(Buffer.from(body), 7n));
    expect(error).toMatchObject({ code: 'contract', facts: { hint: expect.stringContaining('source.baseUrl') } });
    expect(error.message).toContain(`/changes?after=7: the response doesn't match the page format`);
    expect(error.message).toContain(reason);
    expect(error.message).toContain(`it starts with: ${body.slice(0, 20)}`);
  });

  test('is shown in errors by its first characters, on one line', () => {
    const error = catchError(() => readFeedPage(Buffer.from(`<p>\n\n\t${'x'.repeat(500)}`), 0n));
    expect(error.message).toContain('it starts with: <p> xxx');
    expect(error.cause).toBeInstanceOf(SyntaxError);
    expect(error.message.length).toBeLessThan(250);
  });
});

describe('a page of items', () => {
  test('has the exact ids and positions of its items', () => {
    const body = Buffer.from(
      '{"content":[{"title":"\\"id\\":5","id":9223372036854775807},{"id":2,"site":{"id":3}}],"totalElements":2,"totalPages":1}',
    );
    const page = readItemPage(body, '/items');
    expect(page.ids).toEqual([9223372036854775807n, 2n]);
    expect(JSON.parse(body.toString('utf8', page.rows[1]?.start, page.rows[1]?.end))).toEqual({
      id: 2,
      site: { id: 3 },
    });
    expect(page).toMatchObject({ totalElements: 2n, totalPages: 1 });
  });

  test.each([
    ['{"content":[{"title":"A"}],"totalElements":1,"totalPages":1}', 'has no "id"'],
    ['{"content":[{"id":"1"}],"totalElements":1,"totalPages":1}', '"1" at byte 18 is not a 64-bit integer'],
    ['{"content":[1],"totalElements":1,"totalPages":1}', 'not JSON at byte 12'],
    ['{"content":[],"totalPages":1}', '"totalElements" is missing'],
    ['{"content":[],"totalElements":1}', '"totalPages" is missing'],
  ])('with %s is refused', (body, reason) => {
    const error = catchError(() => readItemPage(Buffer.from(body), '/items?page=0'));
    expect(error.code).toBe('contract');
    expect(error.message).toContain(reason);
  });
});

test('a page of products has the positions of its products', () => {
  const body = Buffer.from('{"content":[{"id":"a"},{"id":"b"}],"totalElements":9007199254740993,"totalPages":3}');
  const page = readProductPage(body, '/products');
  expect(page.rows.map(({ start, end }) => body.toString('utf8', start, end))).toEqual(['{"id":"a"}', '{"id":"b"}']);
  expect(page).toMatchObject({ totalElements: 9007199254740993n, totalPages: 3 });
  for (const name of ['content', 'totalElements', 'totalPages']) {
    const without = Buffer.from(body.toString().replace(`"${name}"`, '"x"'));
    expect(catchError(() => readProductPage(without, '/products')).message).toContain(
      `/products: the response doesn't match the page format in the API document: "${name}" is missing`,
    );
  }
});

test('an item without a valid date has no known time of change', () => {
  const read = (body: string) => readLastChanged(Buffer.from(body), { start: 0, end: body.length });
  expect(read('{"lastSeenAt":"2026-11-19T12:00:00Z","lastChangedAt":"2026-11-20T12:00:00Z"}')).toBe(
    '2026-11-20T12:00:00Z',
  );
  for (const body of ['{}', '{"lastChangedAt":null}', '{"lastChangedAt":5}', '{"lastChangedAt":"yesterday"}']) {
    expect(read(body)).toBeUndefined();
  }
});

test("a defect in pricelake isn't reported as a contract error", () => {
  const body = Buffer.from('{"content":[],"totalElements":1,"totalPages":1}');
  const original = body.toString;
  body.toString = () => {
    body.toString = original;
    throw new TypeError('a defect');
  };
  expect(catchError(() => readItemPage(body, '/items'))).toBeInstanceOf(TypeError);
});
