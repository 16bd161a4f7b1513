import { describe, expect, test } from 'vitest';
import { openMacros } from './macro-database.js';

const macros = await openMacros();

type Value = string | null;

async function ask(call: string, values: Value[]): Promise<unknown> {
  const row = await macros.db.row(`SELECT ${call} AS answer`, values);
  return row?.answer;
}

describe('is_price_change', () => {
  const isPriceChange = (before: Value, price: Value, changes: Value) =>
    ask('is_price_change($1::DECIMAL(18, 4), $2::DECIMAL(18, 4), $3)', [before, price, changes]);

  test.each([
    ['previousPrice is set', '10', '11', '{"price":[10,11]}'],
    ['previousPrice alone tells it', '10', '11', '{}'],
    ['changes is null', '10', '11', null],
    ['an attribute has the name beside it', '10', '11', '{"price":[null,true]}'],
    ['a first price', null, '11.5', '{"price":[null,11.50]}'],
    ['a first price with an exponent', null, '1200', '{"price":[null,1.2e3]}'],
    ['a first price below zero', null, '-3', '{"price":[null,-3]}'],
    ['a first price of all digits', null, '12345678901234.5678', '{"price":[null,12345678901234.5678]}'],
    ['the price vanished', '10', null, '{"price":[10,null]}'],
  ])('is one where %s', async (_name, before, price, changes) => {
    expect(await isPriceChange(before, price, changes)).toBe(true);
  });

  test.each([
    ['an attribute of that name holds no number', '{"price":[null,true]}'],
    ['an attribute of that name holds a text', '{"price":[null,"11"]}'],
    ['an attribute of that name held a text', '{"price":["9",11]}'],
    ['an attribute of that name has another number', '{"price":[null,12]}'],
    ['an attribute of that name had another number', '{"price":[9,11]}'],
    ['an attribute of that name is an object', '{"price":[null,{"amount":11}]}'],
    ['it is no pair', '{"price":11}'],
    ['it is a list of three', '{"price":[null,11,12]}'],
    ['it is a list of one', '{"price":[null]}'],
    ['the name is a part of another', '{"attributes.price":[null,11]}'],
    ['nothing is named', '{}'],
    ['changes is a list', '[null,11]'],
    ['changes is null', null],
  ])('is none where %s', async (_name, changes) => {
    expect(await isPriceChange(null, '11', changes)).toBe(false);
  });

  test('is none where neither the item nor the attribute has a value', async () => {
    expect(await isPriceChange(null, null, '{"price":[null,null]}')).toBe(false);
    expect(await isPriceChange(null, null, '{"price":["new",null]}')).toBe(false);
  });
});

describe('is_title_change', () => {
  const isTitleChange = (title: Value, changes: Value) => ask('is_title_change($1::VARCHAR, $2)', [title, changes]);

  test.each([
    ['both titles are named', 'B', '{"title":["A","B"]}', true],
    ['it is the first title', 'B', '{"title":[null,"B"]}', true],
    ['the title vanished', null, '{"title":["A",null]}', true],
    ['the title vanished and the feed writes an empty one', '', '{"title":["A",null]}', true],
    ['an attribute of that name holds a number', '7', '{"title":[6,7]}', false],
    ['an attribute of that name holds another text', 'A', '{"title":["Dr","Prof"]}', false],
    ['an attribute of that name is a list', 'A', '{"title":[null,["A"]]}', false],
    ['it is no pair', 'A', '{"title":"A"}', false],
    ['nothing is named', 'A', '{}', false],
    ['changes is null', 'A', null, false],
    ['there is no title and changes is null', null, null, false],
    ['there is no title and nothing is named', '', '{}', false],
  ])('where %s', async (_name, title, changes, expected) => {
    expect(await isTitleChange(title, changes)).toBe(expected);
  });
});

describe('other_changes', () => {
  test.each([
    ['{"price":[10,11]}', []],
    ['{"price":[10,11],"previousPrice":[9,10],"priceChangedAt":[null,"2026-11-20T06:00:00Z"]}', []],
    ['{"price":[10,11],"stock":[1,2]}', ['stock']],
    ['{"price":[null,true]}', ['price']],
    ['{"previousPrice":["low","high"],"priceChangedAt":[1,2]}', ['previousPrice', 'priceChangedAt']],
    ['{}', []],
  ])('of %s are %j', async (changes, names) => {
    const call = "array_to_string(other_changes(10::DECIMAL(18, 4), 11::DECIMAL(18, 4), $1), ',')";
    expect(await ask(call, [changes])).toBe(names.join(','));
  });
});
