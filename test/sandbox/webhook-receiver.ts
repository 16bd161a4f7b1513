import { createServer, type IncomingHttpHeaders, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface Received {
  headers: IncomingHttpHeaders;
  body: Buffer;
}

/** A customer's endpoint on loopback, which records events and returns the configured status. */
export class Receiver {
  readonly received: Received[] = [];
  /** The status of the k-th response; null means no response. */
  answer: (k: number) => number | null = () => 204;
  readonly #server: Server;

  private constructor() {
    this.#server = createServer((request, response) => {
      const parts: Buffer[] = [];
      request.on('data', (part) => parts.push(part));
      // A sender that gives up in the middle of its body never gets here.
      request.on('end', () => {
        this.received.push({ headers: request.headers, body: Buffer.concat(parts) });
        const status = this.answer(this.received.length);
        if (status === null) return;
        response.writeHead(status, status === 302 ? { location: '/elsewhere' } : {}).end('ignored');
      });
    });
  }

  static async start(): Promise<Receiver> {
    const receiver = new Receiver();
    await new Promise<void>((resolve) => receiver.#server.listen(0, '127.0.0.1', resolve));
    return receiver;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}/hook`;
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }
}
