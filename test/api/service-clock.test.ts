import { describe, expect, it } from 'vitest';
import { createServiceClock } from '../../src/api/service-clock.js';
import { createFakeIo } from './fake-io.js';

const HOUR_MS = 3_600_000;

function openClock() {
  const io = createFakeIo();
  const clock = createServiceClock(io);
  /** An answer whose service is so many hours from here. */
  const answer = (hours: number) => clock.note(new Date(io.now().getTime() + hours * HOUR_MS).toUTCString());
  const ahead = () => ((clock.now()?.getTime() ?? Number.NaN) - io.now().getTime()) / HOUR_MS;
  return { io, clock, answer, ahead };
}

describe("the service's clock", () => {
  it('is as far from here as the Date headers say, and goes on from there', () => {
    const { io, answer, ahead } = openClock();
    answer(-6000);
    expect(ahead()).toBe(-6000);
    io.pass(5 * HOUR_MS);
    expect(ahead()).toBe(-6000);
  });

  it('is not moved by a single wrong date, nor by an old one from a cache', () => {
    const { answer, ahead } = openClock();
    for (const hours of [2, 2, 90_000, -700, 2]) answer(hours);
    expect(ahead()).toBe(2);
  });

  it('is the median of the newest 25 answers, and of two the one that is behind', () => {
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

  it('follows a clock that is set while the run goes on', () => {
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
  ])('is not known from the header %j', (header) => {
    const { clock } = openClock();
    clock.note(header);
    expect(clock.now()).toBeUndefined();
  });
});
