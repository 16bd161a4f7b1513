import { expect, test } from 'vitest';
import type { ApiClient } from '../../src/api/client.js';
import { PricelakeError } from '../../src/io/errors.js';
import { readItem } from '../../src/source/item-files.js';

const clientOf = (answer: string | Error) => {
  const bytes = async (path: string) => {
    expect(path).toBe('/items/9223372036854775807');
    if (answer instanceof Error) throw answer;
    return { body: Buffer.from(answer) };
  };
  return { bytes } as unknown as ApiClient;
};
const read = (answer: string | Error) => readItem(clientOf(answer), 9223372036854775807n);

test('an item comes as the bytes that the service sent', async () => {
  expect((await read('{"id": 9223372036854775807 }'))?.toString()).toBe('{"id": 9223372036854775807 }');
});

test('an item that the service does not show is none; any other refusal is an error', async () => {
  expect(await read(new PricelakeError('not_found', 'no such item'))).toBeUndefined();
  for (const error of [new PricelakeError('unauthorized', 'no'), new TypeError('a defect')]) {
    await expect(read(error)).rejects.toBe(error);
  }
});

test('an answer that is no JSON object is a contract error that says what to check', async () => {
  await expect(read('[1]')).rejects.toMatchObject({
    code: 'contract',
    message: expect.stringMatching(/^\/items\/9223372036854775807: the answer is not a JSON object: .+/),
    facts: { hint: expect.stringContaining('source.baseUrl') },
    cause: expect.any(SyntaxError),
  });
});
