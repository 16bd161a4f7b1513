import type { IncomingMessage } from 'node:http';

export type BodyFault = 'too large' | 'busy' | 'cut off';

export class BodyError extends Error {
  readonly fault: BodyFault;

  constructor(fault: BodyFault) {
    super(fault);
    this.fault = fault;
  }
}

/** All bodies together may take this many times the largest size of one. */
const BODIES_AT_ONCE = 4;

/** Reads raw bodies, within a limit for each and for all together. */
export class BodyReader {
  readonly #maxBytes: number;
  #heldBytes = 0;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  /** Hands the body to `use`, or throws BodyError and discards the rest of the request. */
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
        request.once('close', () => reject(new BodyError('cut off'))); // no effect after `end`
      });
      return await use(body);
    } finally {
      this.#heldBytes -= bytes;
    }
  }
}
