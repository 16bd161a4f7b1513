import type { IncomingMessage } from 'node:http';

/** Why a body was not read. */
export type BodyFault = 'too large' | 'busy' | 'cut off';

export class BodyError extends Error {
  readonly fault: BodyFault;

  constructor(fault: BodyFault) {
    super(fault);
    this.fault = fault;
  }
}

/** Bodies that are held at the same time, as many times the size that one may have. */
const BODIES_AT_ONCE = 4;

/** Reads raw bodies up to a size, and not more of them at a time than memory is meant for. */
export class BodyReader {
  readonly #maxBytes: number;
  #heldBytes = 0;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  /** Hands the body to `use`. Throws BodyError; what still comes of a body that is too large is thrown away. */
  async use<T>(request: IncomingMessage, use: (body: Buffer) => Promise<T>): Promise<T> {
    const parts: Buffer[] = [];
    let bytes = 0;
    try {
      const body = await new Promise<Buffer>((resolve, reject) => {
        const fail = (fault: BodyFault) => {
          request.off('data', take).resume();
          reject(new BodyError(fault));
        };
        const take = (part: Buffer) => {
          if (bytes + part.length > this.#maxBytes) return fail('too large');
          if (this.#heldBytes + part.length > this.#maxBytes * BODIES_AT_ONCE) return fail('busy');
          bytes += part.length;
          this.#heldBytes += part.length;
          parts.push(part);
        };
        if (Number(request.headers['content-length'] ?? 0) > this.#maxBytes) return fail('too large');
        request.on('data', take);
        request.once('end', () => resolve(Buffer.concat(parts)));
        request.once('error', () => reject(new BodyError('cut off')));
        request.once('close', () => reject(new BodyError('cut off'))); // behind `end` it does nothing
      });
      return await use(body);
    } finally {
      this.#heldBytes -= bytes;
    }
  }
}
