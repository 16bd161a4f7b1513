import { expect, test } from 'vitest';
import { editWatchList } from '../../src/analyze/edit-watch-list.js';

const NEW = { product: 'p', price: '12.5', currency: 'EUR', lowest: '10', highest: '' };
const edit = (text: string, line?: number) => editWatchList(text, NEW, line).text;

test.each([
  [
    'no final line end',
    'product,price,currency,lowest\na,1,EUR,',
    'product,price,currency,lowest\na,1,EUR,\np,12.5,EUR,10\n',
  ],
  [
    'CRLF line ends, a byte order mark and capitals',
    '\ufeffProduct,PRICE,Currency,Lowest\r\na,1,EUR,\r\n',
    '\ufeffProduct,PRICE,Currency,Lowest\r\na,1,EUR,\r\np,12.5,EUR,10\r\n',
  ],
  [
    'columns in another order',
    'lowest;currency;price;product\n;EUR;1.00;a\n',
    'lowest;currency;price;product\n;EUR;1.00;a\n10;EUR;12.5;p\n',
  ],
  [
    'decimal commas',
    'product;price;currency;lowest\na;1,00;EUR;\n',
    'product;price;currency;lowest\na;1,00;EUR;\np;12,5;EUR;10\n',
  ],
  ['missing columns', 'product,price\na,1\n\n', 'product,price,currency,lowest\na,1,,\np,12.5,EUR,10\n'],
  [
    'quoted line ends',
    'product,price,currency,lowest,note\na,1,EUR,,"x\ny"\n',
    'product,price,currency,lowest,note\na,1,EUR,,"x\ny"\np,12.5,EUR,10,\n',
  ],
])('a line is added to a file with %s', (_, before, after) => {
  expect(edit(before)).toBe(after);
});

test.each([
  [
    'beside empty lines',
    'product,price,currency,lowest\n\na,1,EUR,\nb,2,EUR,\n',
    3,
    'product,price,currency,lowest\n\na,1,EUR,\nb,12.5,EUR,10\n',
  ],
  [
    'with other columns',
    'note,product,price,currency,lowest\n"a, b",0012-3,1,EUR,5\n',
    2,
    'note,product,price,currency,lowest\n"a, b",0012-3,12.5,EUR,10\n',
  ],
  [
    'after a field with a line end',
    'product,price,currency,lowest,note\na,1,EUR,,"x\ny"\nb,2,EUR,,\n',
    3,
    'product,price,currency,lowest,note\na,1,EUR,,"x\ny"\nb,12.5,EUR,10,\n',
  ],
])('a line %s is replaced, and its product keeps the spelling in the file', (_, before, line, after) => {
  expect(edit(before, line)).toBe(after);
});
