import { AsyncLocalStorage } from 'node:async_hooks';
import type { Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { createAdaptorServer, type HttpBindings } from '@hono/node-server';
import { hasSystemCode } from '../../io/errors.js';
import { listen } from '../../io/listen.js';
import { ApiError } from './answers.js';

export type Handler = (request: Request) => Promise<Response>;

/**
 * Milliseconds to keep an idle connection open. Clients close idle connections earlier, so they don't send a request
 * just as the server closes the connection.
 */
const KEEP_ALIVE_MS = 75_000;

const answers = new AsyncLocalStorage<ServerResponse>();

/** Starts a server on 127.0.0.1. Port 0 chooses a free port. @throws PricelakeError `usage` if the port is in use */
export async function serve(handle: Handler, port: number): Promise<Server> {
  const fetch = (request: Request, { outgoing }: HttpBindings) =>
    answers.run(outgoing as ServerResponse, handle, request);
  const server = createAdaptorServer({ fetch: fetch as never, overrideGlobalObjects: false }) as Server;
  server.keepAliveTimeout = KEEP_ALIVE_MS;
  await listen(server, '127.0.0.1', port);
  return server;
}

/** Returns a function that closes the connection of the current request. Call it inside a handler. */
export function findHangUp(): () => void {
  const answer = answers.getStore();
  return () => answer?.destroy();
}

/** Error codes of Node for requests that don't reach the handler. All other codes mean that the request isn't HTTP. */
const REASONS: Record<string, [status: number, message: string]> = {
  HPE_HEADER_OVERFLOW: [431, 'The request line and headers are too long: the limit is 16 KB.'],
  ERR_HTTP_REQUEST_TIMEOUT: [408, "The request didn't arrive in time."],
};
const NO_HTTP: [number, string] = [400, 'The request is not valid HTTP.'];

/** Sends an Error body for requests that don't reach the handler (API §7). @param describe sets the limit headers */
export function refuseMalformed(server: Server, describe: (headers: Headers) => void): void {
  server.on('clientError', (error: NodeJS.ErrnoException, socket: Socket) => {
    if (hasSystemCode(error, 'ECONNRESET') || !socket.writable) {
      socket.destroy();
      return;
    }
    const refusal = new ApiError(...(REASONS[error.code ?? ''] ?? NO_HTTP));
    const body = JSON.stringify(refusal.toJson());
    const headers = new Headers({ 'Content-Type': 'application/json', Connection: 'close' });
    headers.set('Content-Length', String(Buffer.byteLength(body)));
    describe(headers);
    const lines = Array.from(headers, ([name, value]) => `${name}: ${value}`);
    socket.end(`HTTP/1.1 ${refusal.status} ${refusal.statusText}\r\n${lines.join('\r\n')}\r\n\r\n${body}`);
  });
}
