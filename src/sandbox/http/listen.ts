import { AsyncLocalStorage } from 'node:async_hooks';
import type { Server, ServerResponse } from 'node:http';
import { createAdaptorServer, type HttpBindings } from '@hono/node-server';
import { PricelakeError } from '../../errors/errors.js';

export type Handler = (request: Request) => Promise<Response>;

/** Longer than clients keep a connection: one that the server closes may be in use again at that very moment. */
const KEEP_ALIVE_MS = 75_000;

const answers = new AsyncLocalStorage<ServerResponse>();

/** Serves on 127.0.0.1; port 0 takes any free one. Throws PricelakeError `usage` when the port is taken. */
export async function listen(handle: Handler, port: number): Promise<Server> {
  const fetch = (request: Request, { outgoing }: HttpBindings) =>
    answers.run(outgoing as ServerResponse, handle, request);
  const server = createAdaptorServer({ fetch: fetch as never, overrideGlobalObjects: false }) as Server;
  server.keepAliveTimeout = KEEP_ALIVE_MS;
  await new Promise<void>((resolve, reject) => {
    server.once('error', (cause) => {
      const hint = 'Choose another port; 0 takes any free one.';
      const message = `port ${port} cannot be opened: ${cause.message}`;
      reject(new PricelakeError('usage', message, { hint }, { cause }));
    });
    server.listen(port, '127.0.0.1', resolve);
  });
  return server;
}

/** Inside of a handler: what breaks the connection of the request under way. */
export function findHangUp(): () => void {
  const answer = answers.getStore();
  return () => answer?.destroy();
}
