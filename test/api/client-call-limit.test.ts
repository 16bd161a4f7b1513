import { expect, test } from 'vitest';
import { PricelakeError } from '../../src/io/errors.js';
import { catchError, sendJson, startAnswers, startService } from './local-service.js';

const refuse = (made: number) => new PricelakeError('budget', `${made} calls made`);

test('a call beyond the limit is not sent, and its error gets the number of calls made', async () => {
  const { client, urls } = await startAnswers([[200]]);
  await client.bytes('/plan', {});
  client.setCallLimit(2, refuse);
  await client.bytes('/items', {});
  await client.bytes('/items', {});
  for (const _ of [1, 2]) {
    expect(await catchError(client.bytes('/items', {}))).toMatchObject({ code: 'budget', message: '3 calls made' });
  }
  expect(await catchError(client.stream('/export', {}))).toMatchObject({ code: 'budget' });
  expect(urls).toHaveLength(3);
  client.setCallLimit(null, refuse);
  await client.bytes('/items', {});
});

test('each retry counts toward the limit, so the service never receives more calls', async () => {
  const { client, urls } = await startAnswers([[503]]);
  client.setCallLimit(3, refuse);
  expect(await catchError(client.bytes('/items', {}))).toMatchObject({ code: 'budget', message: '3 calls made' });
  expect(urls).toHaveLength(3);
});

test('each redirect counts toward the limit', async () => {
  const { client, urls } = await startAnswers([[307, {}, { location: '/api/v1/items' }]]);
  client.setCallLimit(2, refuse);
  expect(await catchError(client.bytes('/items', {}))).toMatchObject({ code: 'budget' });
  expect(urls).toHaveLength(2);
});

test('concurrent calls together never exceed the limit', async () => {
  const { client, urls } = await startService((_request, response) =>
    setTimeout(() => sendJson(response, 200, {}), 20),
  );
  client.setCallLimit(3, refuse);
  const ends = await Promise.allSettled([1, 2, 3, 4, 5].map(() => client.bytes('/items', {})));
  expect(ends.filter(({ status }) => status === 'fulfilled')).toHaveLength(3);
  expect(urls).toHaveLength(3);
});
