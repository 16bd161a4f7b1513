import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  cutText,
  foreign,
  formatDuration,
  formatMoney,
  formatPercent,
  link,
  shortenNames,
} from '../../src/explore/format.js';
import { html, stripControls } from '../../src/formats/html.js';

describe('money', () => {
  it.each([
    ['1460.9950', '1,460.995'],
    ['10.0000', '10.00'],
    ['0.5', '0.50'],
    ['-3.1000', '-3.10'],
    ['7', '7.00'],
    ['99999999999999.9999', '99,999,999,999,999.9999'],
  ])('%s is %s', (decimal, shown) => expect(formatMoney(decimal)).toBe(shown));
});

it('percentages and durations are short', () => {
  const percents = [17.849, 0, 999.96, 10_239.04].map(formatPercent);
  expect(percents).toEqual(['17.8', '0.0', '1,000.0', '10,239'].map((number) => `${number}\u00a0%`));
  const durations = [400, 59_000, 90_000, 3 * 3_600_000 + 20 * 60_000, 5 * 86_400_000].map(formatDuration);
  expect(durations).toEqual(['0 s', '59 s', '2 min', '3 h 20 min', '5 days']);
});

describe('foreign text', () => {
  it('is isolated, shortened between characters, and stripped of characters that could reorder it', () => {
    expect(foreign('a\u202eb<', 10).text).toBe('<bdi>ab&lt;</bdi>');
    expect(cutText('👩‍🍳'.repeat(3), 4)).not.toMatch(/[\ud800-\udbff]$/);
    expect(cutText(' a \n b ', 10)).toBe('a b');
    expect(foreign(null).text).toBe('<span class="none">–</span>');
    expect(foreign('\u200e').text).toBe('<span class="none">–</span>');
  });

  it.each([
    'javascript:alert(1)',
    ' JaVaScRiPt:alert(1)',
    'data:text/html,<script>',
    'file:///etc/passwd',
    'https://user:secret@shop.example/',
    '//shop.example/x',
    'not an address',
    `https://shop.example/${'a'.repeat(3000)}`,
  ])('%s is not made a link', (address) => {
    expect(html`${link(address, 'Shop')}`.text).toBe('Shop');
  });

  it('links to web pages send no referrer', () => {
    expect(html`${link('HTTPS://shop.example/"><b>', 'Shop')}`.text).toBe(
      '<a href="https://shop.example/%22%3E%3Cb%3E" rel="noopener noreferrer nofollow external">Shop</a>',
    );
  });
});

it('a template escapes every value, and accepts lists and absent values', () => {
  expect(html`<p title="${`"'<>&`}">${['<', null, undefined, 1n, [html`<b>`]]}</p>`.text).toBe(
    '<p title="&quot;&#39;&lt;&gt;&amp;">&lt;1<b></p>',
  );
});

it('any text remains one text within an element and an attribute', () => {
  const decode = (text: string) =>
    text.replace(
      /&(?:#39|[a-z]+);/g,
      (entity) => ({ '&lt;': '<', '&gt;': '>', '&quot;': '"', '&#39;': "'", '&amp;': '&' })[entity] ?? '?',
    );
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), (value) => {
      const { text } = html`<p title="${value}">${value}</p>`;
      const [, attribute = '', content = ''] = /^<p title="([^"<>]*)">([^"<>]*)<\/p>$/u.exec(text) ?? [];
      expect([decode(attribute), decode(content)]).toEqual([stripControls(value), stripControls(value)]);
    }),
    { seed: 1, numRuns: 100 },
  );
});

describe('names in a chart', () => {
  it('are unchanged if they fit', () => {
    expect(shortenNames(['Alpha', 'Beta', 'Alpha'], 10)).toEqual(['Alpha', 'Beta', 'Alpha']);
  });

  it('lose their common first words', () => {
    const names = ['Supermarket Online North', 'Supermarket Online South', 'Supermarket Online North'];
    expect(shortenNames(names, 12)).toEqual(['…North', '…South', '…North']);
  });

  it('are shortened in the middle otherwise', () => {
    expect(shortenNames(['A shop of many words', 'Beta'], 11)).toEqual(['A sho…words', 'Beta']);
  });

  it('remain distinct', () => {
    fc.assert(
      fc.property(
        fc.uniqueArray(
          fc.stringMatching(/^[ab ]{1,40}$/u).map((name) => cutText(name, 100)),
          { minLength: 2, maxLength: 12 },
        ),
        fc.integer({ min: 6, max: 20 }),
        (names, longest) => {
          const short = shortenNames(names, longest);
          expect(new Set(short).size).toBe(new Set(names).size);
          for (const name of short) expect([...name].length).toBeLessThanOrEqual(longest);
        },
      ),
      { seed: 1, numRuns: 300 },
    );
  });
});
