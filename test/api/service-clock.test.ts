import { describe, expect, it, test } from 'vitest';
import { createServiceClock, parseRetryAfter } from '../../src/api/service-clock.js';
import { createFakeIo } from './fake-io.js';

const HOUR_MS = 3_600_000;

function openClock() {
  const io = createFakeIo();
  const clock = createServiceClock(io);
  /** Notes a response from a service whose clock differs by this many hours. */
  const answer = (hours: number) => clock.note(new Date(io.now().getTime() + hours * HOUR_MS).toUTCString());
  const ahead = () => ((clock.now()?.getTime() ?? Number.NaN) - io.now().getTime()) / HOUR_MS;
  return { io, clock, answer, ahead };
}

describe("the service's clock", () => {
  it('is as far from the local clock as the Date headers show, and advances with it', () => {
    const { io, answer, ahead } = openClock();
    answer(-6000);
    expect(ahead()).toBe(-6000);
    io.pass(5 * HOUR_MS);
    expect(ahead()).toBe(-6000);
  });

  it('ignores a single wrong date and a single old date from a cache', () => {
    const { answer, ahead } = openClock();
    for (const hours of [2, 2, 90_000, -700, 2]) answer(hours);
    expect(ahead()).toBe(2);
  });

  it('is the median of the newest 25 responses, and the earlier one of two', () => {
    const { answer, ahead } = openClock();
    for (const hours of [7, -3]) answer(hours);
    expect(ahead()).toBe(-3);
    for (let i = 0; i < 25; i += 1) answer(i < 13 ? 5 : 0);
    expect(ahead()).toBe(5);
    answer(0);
    expect(ahead()).toBe(0);
  });

  it.each([' Fri, 20 Nov 2026 13:00:00 GMT ', 'Sat, 01 Jan 2000 00:00:00 GMT', 'Thu, 31 Dec 2099 23:59:59 GMT'])(
    'is known from the header %j',
    (header) => {
      const { clock } = openClock();
      clock.note(header);
      expect(clock.now()).toEqual(new Date(header));
    },
  );

  it("follows the service's clock when it is set during a run", () => {
    const { answer, ahead } = openClock();
    for (let i = 0; i < 100; i += 1) answer(5);
    for (let i = 0; i < 20; i += 1) answer(0);
    expect(ahead()).toBe(0);
  });

  it.each([
    undefined,
    '',
    '1',
    'yesterday',
    '2026-11-20T12:00:00Z',
    'Fri, 20 Nov 1926 12:00:00 GMT',
    'Fri, 20 Nov 9026 12:00:00 GMT',
    'Fri, 31 Dec 1999 23:59:59 GMT',
    'Fri, 01 Jan 2100 00:00:00 GMT',
  ])('is unknown with the invalid Date header %j', (header) => {
    const { clock } = openClock();
    clock.note(header);
    expect(clock.now()).toBeUndefined();
  });
});

const NOW = new Date('2026-11-20T12:00:00Z');

test.each([
  ['7', 7000],
  [' 0 ', 0],
  ['1.5', 1500],
  ['Fri, 20 Nov 2026 12:00:30 GMT', 30_000],
  ['Friday, 20-Nov-26 12:00:30 GMT', 30_000],
  ['Fri Nov 20 12:00:30 2026', 30_000],
  ['Fri, 20 Nov 2026 12:00:30 UTC', 30_000],
  ['Fri, 20 Nov 2026 12:00:30 +0000', 30_000],
  ['Fri, 20 Nov 2026 14:00:30 +0200', 30_000],
  ['Fri, 20 Nov 2026 10:00:30 -0200', 30_000],
  ['Fri, 20 Nov 2026 11:00:00 GMT', 0],
  ['Thu, 01 Jan 1970 00:00:00 GMT', 0],
  ['0.0001', 1],
  ['2592000', 2_592_000_000],
  ['31622400', 31_622_400_000],
])('the Retry-After %j is %i ms', (header, ms) => {
  expect(parseRetryAfter(header, NOW)).toBe(ms);
});

test.each([
  ...[undefined, '', 'soon', '-1', '+7', '1e3', '0x10', 'Infinity', '.5', '7 s', '2026-11-20T12:00:30Z'],
  'Fri, 99 Nov 2026 99:00:00 GMT',
  '1 Fri, 20 Nov 2026 12:00:30 GMT',
  'Fri, 20 Nov 2026 1:00:30 GMT',
  'Fri, 20 Nov 2026 12:00:3 GMT',
  'Fri, 20 Nov 2026 12:0:30 GMT',
  '(x) Fri, 20 Nov 2026 12:00:30 GMT',
  'Fri, 20 Nov 2026 12:00:30 GMT+0200',
  'Fri, 20 Nov 2026 12:00:30 EST',
  // A wait of more than a year is unusable.
  ...['9'.repeat(400), `1.${'9'.repeat(400)}e9`, '99999999', 'Fri, 31 Dec 9999 23:59:59 GMT'],
])('the Retry-After %j is unusable', (header) => {
  expect(parseRetryAfter(header, NOW)).toBeUndefined();
});
