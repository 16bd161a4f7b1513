import { createRequire } from 'node:module';

/**
 * The Thrift reader of parquetjs-lite makes each int64 of a footer with `new Buffer`. As that is deprecated, Node looks
 * through the stack for who calls, up to ten thousand times a process, which takes longer than all else of a footer.
 */
export function allocateInt64(): void {
  const parquet = createRequire(import.meta.url).resolve('parquetjs-lite');
  const { prototype } = createRequire(parquet)('node-int64') as { prototype: object };
  Object.defineProperty(prototype, 'buffer', {
    configurable: true,
    get: () => Buffer.alloc(8),
    set(this: object, value: Buffer) {
      Object.defineProperty(this, 'buffer', { value, writable: true });
    },
  });
}
