import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { change, historyEntry } from '../../src/api/contract.js';
import { PricelakeError } from '../../src/io/errors.js';
import { startSandbox } from '../../src/sandbox/start.js';
import { parse, Service } from './service.js';

const directory = await mkdtemp(join(tmpdir(), 'pricelake-test-'));
const sandbox = await startSandbox({ items: 60 });
await sandbox.advance({ hours: 30, changes: 90 });
const { items, changes } = await sandbox.dump();
await sandbox.close();
const lines = changes;
const dataFile = await write('items.ndjson', items.join('\n'));
afterAll(() => rm(directory, { recursive: true }));

async function write(name: string, content: string | Buffer): Promise<string> {
  const path = join(directory, name);
  await writeFile(path, content);
  return path;
}

async function refusal(changesFile: string): Promise<PricelakeError> {
  const error = await startSandbox({ dataFile, changesFile }).then(
    async (sandbox) => sandbox.close(),
    (thrown: unknown) => thrown,
  );
  expect(error).toBeInstanceOf(PricelakeError);
  return error as PricelakeError;
}

describe('a file of changes', () => {
  it('is served as it stands through the feed and in histories, and the world moves on behind it', async () => {
    const own = lines.map((line, k) =>
      k === 3 ? line.replace('"price":', '"price" : ').replace(/"item":.*/, '"item":null}') : line,
    );
    const changesFile = await write('changes.gz', gzipSync(`${own.join('\n')}\n`));
    const service = await Service.start({ dataFile, changesFile, limits: { historyDays: null } });
    expect(await service.readFeed()).toEqual(own.map((line) => parse(line, change)));
    const counts = new Map<bigint, number>();
    for (const line of own) {
      const id = parse(line, change).item?.id;
      if (id !== undefined) counts.set(id, (counts.get(id) ?? 0) + 1);
    }
    const [[id, count] = []] = [...counts].sort(([, a], [, b]) => b - a);
    const history = await service.read(`/items/${id}/history`, z.array(historyEntry));
    expect(history).toHaveLength(count ?? 0);
    expect(count).toBeGreaterThan(2);
    await service.sandbox.advance({ hours: 1, changes: 5 });
    const { changes } = await service.sandbox.dump();
    const ids = changes.map((line) => parse(line, change).id);
    expect(ids).toHaveLength(own.length + 5);
    expect(ids).toEqual([...ids].sort((a, b) => (a < b ? -1 : 1)));
    await service.close();
  });

  it('is refused with the line, what is wrong with it and what to do', async () => {
    const [first = '', second = '', third = ''] = lines;
    const later = first.replace(/"observedAt":"\d{4}/, '"observedAt":"2099');
    const broken: [string[], number, string][] = [
      [[first, '{oops'], 2, 'not JSON'],
      [[first, '', second.replace('"observedAt"', '"seenAt"')], 3, 'observedAt'],
      [[first, third, second], 3, 'ids have to increase'],
      [[first, first], 2, 'ids have to increase'],
      [[later, second], 2, 'in order of time'],
      [[first, second.replace(/"item":\{"id":\d+/, '"item":{"id":7')], 2, 'the item 7 is not among the Items'],
      [[second.replace(/"price":[^,]+/, '"price":1.23456')], 1, 'price'],
      [[second.replace(/"kind":"\w+"/, '"kind":"SOLD"')], 1, 'kind'],
      [[second.replace(/"title":("[^"]*"|null),/, '')], 1, 'item.title'],
      [[''], 1, 'empty'],
    ];
    for (const [content, line, reason] of broken) {
      const error = await refusal(await write('broken', content.join('\n')));
      expect(error.code).toBe('config');
      expect(error.message).toContain(`broken, line ${line}: `);
      expect(error.message).toContain(reason);
      expect(error.facts.hint).toContain('Change');
    }
    expect((await refusal(join(directory, 'nowhere'))).code).toBe('usage');
  });
});
