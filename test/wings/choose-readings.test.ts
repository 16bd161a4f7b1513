import { describe, expect, test } from 'vitest';
import { chooseReadings, type ReadingFacts, type SiteCount } from '../../src/wings/listing/choose-readings.js';

/** A website: listed by the service, listed in the lake, removed in the lake. */
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

describe('which pages find what a poll has missed', () => {
  test('all listed items, where that is cheap: then a removal and a relisting of one website hide nothing', () => {
    const found = choose([count(1n, 2_000n, 2_000n, 9_000n), count(2n, 900n, 900n, 9_000n)]);
    expect(found).toEqual({ words: ['active of all'], calls: 6n, wanted: 6n });
  });

  test('all removed items, where these are fewer', () => {
    expect(choose([count(1n, 20_000n, 20_003n, 300n)])).toMatchObject({ words: ['removed of all'], calls: 1n });
  });

  test('none where the counts agree and all pages would take more than a tenth of the calls left', () => {
    expect(choose([count(1n, 6_000n, 6_000n, 9_000n)])).toEqual({ words: [], calls: 0n, wanted: 12n });
  });

  test('all the same when currencies or categories do not add up: up to half of the calls left', () => {
    const found = choose([count(1n, 6_000n, 6_000n, 9_000n)], { isSuspect: true });
    expect(found).toMatchObject({ words: ['active of all'], calls: 12n });
  });

  test('those of the websites whose counts differ, where all would be too many', () => {
    const sites = [count(1n, 9_000n, 9_000n, 9_000n), count(2n, 700n, 690n, 9_000n), count(3n, 400n, 400n, 9_000n)];
    expect(choose(sites)).toMatchObject({ words: ['active of 2'], calls: 2n });
  });

  test('the newest removals, where items are missing and the pages of their websites are many', () => {
    const sites = [count(1n, 9_000n, 9_030n, 9_000n), count(2n, 9_000n, 9_000n, 9_000n)];
    expect(choose(sites)).toMatchObject({ words: ['removed of all, newest 30'], calls: 2n, wanted: 19n });
  });

  test('listed items alone in a second reading: one that the lake has never seen stands nowhere else', () => {
    const found = choose([count(1n, 20_000n, 20_003n, 300n)], { isSecond: true, callsLeft: 1_000n });
    expect(found.words).toEqual(['active of all']);
  });

  test('as many websites as half of the calls left allow, the cheapest first', () => {
    const sites = [count(1n, 3_010n, 3_000n, 9_000n), count(2n, 510n, 500n, 9_000n), count(3n, 90n, 80n, 9_000n)];
    expect(choose(sites, { callsLeft: 10n })).toEqual({ words: ['active of 3', 'active of 2'], calls: 3n, wanted: 8n });
    expect(choose(sites, { callsLeft: 0n })).toMatchObject({ words: [], calls: 0n });
  });

  test('a tenth of the calls left at most where removals come with the poll: the difference is most likely lag', () => {
    const sites = [count(1n, 6_010n, 6_000n, 9_000n)];
    expect(choose(sites, { returnsRemovals: true })).toMatchObject({ words: [], wanted: 13n });
    expect(choose(sites, { returnsRemovals: true, callsLeft: null })).toMatchObject({ words: ['active of 1'] });
  });

  test('nothing where removals come with the poll and the counts agree', () => {
    expect(choose([count(1n, 600n)], { returnsRemovals: true })).toEqual({ words: [], calls: 0n, wanted: 0n });
  });
});
