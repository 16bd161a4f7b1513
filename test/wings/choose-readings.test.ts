import { describe, expect, test } from 'vitest';
import { chooseReadings, type ReadingFacts, type SiteCount } from '../../src/wings/listing/choose-readings.js';

/** A website with its number of items listed by the service, listed in the lake, and removed in the lake. */
function count(site: bigint, service: bigint, lake = service, removed = 0n): SiteCount {
  return { site, name: `Shop ${site}`, service, lake, removed, unread: lake + removed };
}

function choose(sites: SiteCount[], facts: Partial<ReadingFacts> = {}) {
  const given = { returnsRemovals: false, isSuspect: false, isSecond: false, callsLeft: 100n };
  const { readings, calls, wanted } = chooseReadings({ sites, ...given, ...facts });
  const words = readings.map(({ status, site, removals }) => {
    return `${status} of ${site ?? 'all'}${removals === null ? '' : `, newest ${removals}`}`;
  });
  return { words, calls, wanted };
}

describe('the pages that find what a poll has missed', () => {
  test('are all listed items if that is cheap, so that even a removal and a relisting on the same website are found', () => {
    const found = choose([count(1n, 2_000n, 2_000n, 9_000n), count(2n, 900n, 900n, 9_000n)]);
    expect(found).toEqual({ words: ['active of all'], calls: 6n, wanted: 6n });
  });

  test('are all removed items if these are fewer', () => {
    expect(choose([count(1n, 20_000n, 20_003n, 300n)])).toMatchObject({ words: ['removed of all'], calls: 1n });
  });

  test('are none if the counts agree and all pages would take more than a tenth of the remaining calls', () => {
    expect(choose([count(1n, 6_000n, 6_000n, 9_000n)])).toEqual({ words: [], calls: 0n, wanted: 12n });
  });

  test("may take up to half of the remaining calls if the counts by currency or category don't add up", () => {
    const found = choose([count(1n, 6_000n, 6_000n, 9_000n)], { isSuspect: true });
    expect(found).toMatchObject({ words: ['active of all'], calls: 12n });
  });

  test('are those of the websites whose counts differ, if all pages would be too many', () => {
    const sites = [count(1n, 9_000n, 9_000n, 9_000n), count(2n, 700n, 690n, 9_000n), count(3n, 400n, 400n, 9_000n)];
    expect(choose(sites)).toMatchObject({ words: ['active of 2'], calls: 2n });
  });

  test('are the newest removals if items are missing and their websites have many pages', () => {
    const sites = [count(1n, 9_000n, 9_030n, 9_000n), count(2n, 9_000n, 9_000n, 9_000n)];
    expect(choose(sites)).toMatchObject({ words: ['removed of all, newest 30'], calls: 2n, wanted: 19n });
  });

  test("are only listed items in a second reading, because items unknown to the lake can't be elsewhere", () => {
    const found = choose([count(1n, 20_000n, 20_003n, 300n)], { isSecond: true, callsLeft: 1_000n });
    expect(found.words).toEqual(['active of all']);
  });

  test('are as many websites as half of the remaining calls allow, cheapest first', () => {
    const sites = [count(1n, 3_010n, 3_000n, 9_000n), count(2n, 510n, 500n, 9_000n), count(3n, 90n, 80n, 9_000n)];
    expect(choose(sites, { callsLeft: 10n })).toEqual({ words: ['active of 3', 'active of 2'], calls: 3n, wanted: 8n });
    expect(choose(sites, { callsLeft: 0n })).toMatchObject({ words: [], calls: 0n });
  });

  test('take at most a tenth of the remaining calls if the poll returns removals, because the difference is probably a delay', () => {
    const sites = [count(1n, 6_010n, 6_000n, 9_000n)];
    expect(choose(sites, { returnsRemovals: true })).toMatchObject({ words: [], wanted: 13n });
    expect(choose(sites, { returnsRemovals: true, callsLeft: null })).toMatchObject({ words: ['active of 1'] });
  });

  test('are none if the poll returns removals and the counts agree', () => {
    expect(choose([count(1n, 600n)], { returnsRemovals: true })).toEqual({ words: [], calls: 0n, wanted: 0n });
  });
});
