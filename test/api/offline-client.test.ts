import { expect, test } from 'vitest';
import { z } from 'zod';
import { createOfflineClient } from '../../src/api/offline-client.js';
import { PricelakeError } from '../../src/io/errors.js';

test('a client without a network refuses every call, with the reason and a next step', async () => {
  const client = createOfflineClient('rebuild');
  const calls = [client.json('/plan', {}, z.unknown()), client.bytes('/plan', {}), client.stream('/plan', {})];
  for (const call of calls) {
    await expect(call).rejects.toMatchObject({
      code: 'offline',
      message: "rebuild doesn't call the service, but the run's downloads contain no response from /plan",
      facts: { hint: expect.stringContaining('pricelake sync') },
    });
  }
});

test('an offline client reports no calls and no service time, whatever rate or limit is set', async () => {
  const client = createOfflineClient('rebuild');
  client.setRate(1);
  client.setCallLimit(0, () => new PricelakeError('budget', 'none'));
  expect([client.calls(), client.refusedCalls(), client.serviceTime()]).toEqual([0, 0, undefined]);
  await client.close();
});
