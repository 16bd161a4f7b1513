import type { Server } from 'node:http';
import { PricelakeError } from './errors.js';

/** Starts listening on an address. For port 0, the system picks a port. @throws PricelakeError `usage` on failure */
export function listen(server: Server, host: string, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', (cause) => {
      const message = `can't listen on ${host}:${port}: ${cause.message}`;
      const hint = 'Choose another address or port; port 0 picks a free one.';
      reject(new PricelakeError('usage', message, { hint }, { cause }));
    });
    server.listen(port, host, resolve);
  });
}

export async function shutDown(server: Server): Promise<void> {
  const closed = new Promise<void>((resolve) => server.close(() => resolve()));
  server.closeAllConnections();
  await closed;
}
