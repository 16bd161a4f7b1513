import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import { hasSystemCode } from '../../errors/errors.js';
import { ApiError } from './api-error.js';

/** Node's reasons for answering a request itself; anything else is no HTTP. */
const REASONS: Record<string, [status: number, message: string]> = {
  HPE_HEADER_OVERFLOW: [431, 'The request line and headers are too long: 16 KB are taken.'],
  ERR_HTTP_REQUEST_TIMEOUT: [408, 'The request did not arrive in time.'],
};
const NO_HTTP: [number, string] = [400, 'The request is not valid HTTP.'];

/** Requests that never reach the app get an Error body (section 7), as every other. @param describe headers of every answer */
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
