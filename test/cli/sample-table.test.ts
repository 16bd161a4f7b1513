import { describe, expect, it } from 'vitest';
import { wrapText } from '../../src/cli/output/display-width.js';
import { layOutSample } from '../../src/cli/output/table.js';

describe('the sampled rows of a check', () => {
  it('are a table with exact ids, short doubles and harmless texts', () => {
    const sample = `[{"item_id":9007199254740993,"price":7.8000,"factor":0.011250156269533691,"title":"a\\u001b[31m\\nb","more":null},
      {"item_id":1,"price":240.9900,"factor":10755.894409658093,"title":"茶","more":{"id":9007199254740995,"of":["x"]}}]`;
    expect(layOutSample(sample, undefined).split('\n')).toEqual([
      '         item_id   price     factor  title    more',
      '────────────────  ──────  ─────────  ───────  ──────────────────────────────────',
      '9007199254740993    7.80  0.0112502  a[31m b  ',
      '               1  240.99   10755.89  茶       {"id":9007199254740995,"of":["x"]}',
      '',
    ]);
    expect(layOutSample('[{"price":99999999999999.9999}]', undefined)).toContain('\n99999999999999.9999\n');
  });
});

it('a text is wrapped between words on a narrow terminal, and not wrapped without a terminal', () => {
  expect(wrapText('→ look at the page', 10, '  ')).toBe('→ look at\n  the page');
  expect(wrapText('unbreakably long', 4)).toBe('unbreakably\nlong');
  expect(wrapText('→ look at the page', undefined, '  ')).toBe('→ look at the page');
});
