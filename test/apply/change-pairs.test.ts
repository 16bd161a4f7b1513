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
    ['only previousPrice reports it', '10', '11', '{}'],
    ['changes is null', '10', '11', null],
    ['an attribute has the same name', '10', '11', '{"price":[null,true]}'],
    ['a first price', null, '11.5', '{"price":[null,11.50]}'],
    ['a first price with an exponent', null, '1200', '{"price":[null,1.2e3]}'],
    ['a first price below zero', null, '-3', '{"price":[null,-3]}'],
    ['a first price of all digits', null, '12345678901234.5678', '{"price":[null,12345678901234.5678]}'],
    ['the price vanished', '10', null, '{"price":[10,null]}'],
  ])('is true if %s', async (_name, before, price, changes) => {
    expect(await isPriceChange(before, price, changes)).toBe(true);
  });

  test.each([
    ['an attribute with that name is a boolean', '{"price":[null,true]}'],
    ['an attribute with that name is a text', '{"price":[null,"11"]}'],
    ['an attribute with that name was a text', '{"price":["9",11]}'],
    ['an attribute with that name has another number', '{"price":[null,12]}'],
    ['an attribute with that name had another number', '{"price":[9,11]}'],
    ['an attribute with that name is an object', '{"price":[null,{"amount":11}]}'],
    ["the value isn't a pair", '{"price":11}'],
    ['the value has three elements', '{"price":[null,11,12]}'],
    ['the value has one element', '{"price":[null]}'],
    ['the name is only a part of another name', '{"attributes.price":[null,11]}'],
    ['changes is empty', '{}'],
    ['changes is a list', '[null,11]'],
    ['changes is null', null],
  ])('is false if %s', async (_name, changes) => {
    expect(await isPriceChange(null, '11', changes)).toBe(false);
  });

  test('is false if neither the item nor the attribute has a value', async () => {
    expect(await isPriceChange(null, null, '{"price":[null,null]}')).toBe(false);
    expect(await isPriceChange(null, null, '{"price":["new",null]}')).toBe(false);
  });
});

describe('is_title_change', () => {
  const isTitleChange = (title: Value, changes: Value) => ask('is_title_change($1::VARCHAR, $2)', [title, changes]);

  test.each([
    ['is true if the pair contains both titles', 'B', '{"title":["A","B"]}', true],
    ['is true if the item gets its first title', 'B', '{"title":[null,"B"]}', true],
    ['is true if the title was removed', null, '{"title":["A",null]}', true],
    ['is true if the title was removed and the feed writes an empty text', '', '{"title":["A",null]}', true],
    ['is false if an attribute with that name is a number', '7', '{"title":[6,7]}', false],
    ['is false if an attribute with that name has another text', 'A', '{"title":["Dr","Prof"]}', false],
    ['is false if an attribute with that name is a list', 'A', '{"title":[null,["A"]]}', false],
    ["is false if the value isn't a pair", 'A', '{"title":"A"}', false],
    ['is false if changes is empty', 'A', '{}', false],
    ['is false if changes is null', 'A', null, false],
    ['is false if there is no title and changes is null', null, null, false],
    ['is false if there is no title and changes is empty', '', '{}', false],
  ])('%s', async (_name, title, changes, expected) => {
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
