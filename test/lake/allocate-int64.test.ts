import { createRequire } from 'node:module';
import { expect, test } from 'vitest';
import { allocateInt64 } from '../../src/lake/allocate-int64.js';

interface Int64 {
  buffer: Buffer;
  toNumber(): number;
}

const parquet = createRequire(createRequire(import.meta.url).resolve('parquetjs-lite'));
const Int64 = parquet('node-int64') as { prototype: Int64; new (value: number | Buffer, offset?: number): Int64 };

test('an int64 of a footer finds eight bytes of its own, before it would ask for deprecated ones', () => {
  allocateInt64();
  const { prototype } = Int64;
  const found = [prototype.buffer, prototype.buffer];
  expect(found).toEqual([Buffer.alloc(8), Buffer.alloc(8)]);
  expect(found[0]).not.toBe(found[1]);
  const [one, big] = [new Int64(1), new Int64(-(2 ** 40))];
  expect([one.toNumber(), big.toNumber()]).toEqual([1, -(2 ** 40)]);
});

test('an int64 over bytes of a file reads these, and may be given others', () => {
  allocateInt64();
  allocateInt64(); // every module that reads footers may ask for it
  const value = new Int64(Buffer.from('00000000000000000000000000000007', 'hex'), 8);
  expect(value.toNumber()).toBe(7);
  value.buffer = Buffer.alloc(16, 0);
  expect(value.toNumber()).toBe(0);
});
