import type { IncomingMessage } from 'node:http';
import { Refusal } from './refusal.js';

/** All bodies in memory together may be this many times as large as the largest allowed body. */
const BODIES_AT_ONCE = 4;

/** Reads raw request bodies. Limits the size of each body, and the memory for all bodies together. */
export class BodyReader {
  readonly #maxBytes: number;
  #heldBytes = 0;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  /** Passes the body to `use`. @throws Refusal if the body is too large or incomplete; the rest of it is discarded */
  async use<T>(request: IncomingMessage, use: (body: Buffer) => Promise<T>): Promise<T> {
    const parts: Buffer[] = [];
    let bytes = 0;
    try {
      const body = await new Promise<Buffer>((resolve, reject) => {
        const fail = (status: number, reason: string) => {
          request.off('data', take).resume();
          reject(new Refusal(status, reason));
        };
        const failTooLarge = () => fail(413, 'larger than --max-body');
        const take = (part: Buffer) => {
          if (bytes + part.length > this.#maxBytes) return failTooLarge();
          if (this.#heldBytes + part.length > this.#maxBytes * BODIES_AT_ONCE) return fail(503, 'busy');
          bytes += part.length;
          this.#heldBytes += part.length;
          parts.push(part);
        };
        if (Number(request.headers['content-length'] ?? 0) > this.#maxBytes) return failTooLarge();
        request.on('data', take);
        request.once('end', () => resolve(Buffer.concat(parts)));
        request.once('error', () => fail(400, 'cut off'));
        request.once('close', () => fail(400, 'cut off')); // has no effect after the event `end`
      });
      return await use(body);
    } finally {
      this.#heldBytes -= bytes;
    }
  }
}
