import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createAdaptorServer } from '@hono/node-server';
import { createMcpHandler, type McpServer } from '@modelcontextprotocol/server';
import { createGuard } from '../../explore/guard.js';
import { listen } from '../../io/listen.js';

const HOST = '127.0.0.1';
const PATH = '/mcp';

export interface HttpServer {
  url: string;
  /** The secret that allows a client to read the lake and to spend the session's budget. */
  token: string;
  close(): Promise<void>;
}

/**
 * Serves MCP over HTTP on loopback to clients that have the token. Rejects requests from browser pages, which don't
 * have the token and are recognized by their `Origin` and `Sec-Fetch-Site` headers.
 * @throws PricelakeError `usage` if the port can't be opened
 */
export async function serveHttp(
  create: () => McpServer,
  { port, onerror }: { port: number; onerror: (error: Error) => void },
): Promise<HttpServer> {
  const handler = createMcpHandler(create, { onerror });
  let handle = async (_: Request): Promise<Response> => new Response(null, { status: 503 });
  const server = createAdaptorServer({
    fetch: (request: Request) => handle(request),
    overrideGlobalObjects: false,
  }) as Server;
  await listen(server, HOST, port);
  const guard = createGuard(HOST, (server.address() as AddressInfo).port);
  handle = async (request) => {
    const { headers } = request;
    if (!guard.isOwnHost(headers.get('host') ?? undefined)) return new Response('Unknown address.\n', { status: 421 });
    const [, given] = /^Bearer (\S+)$/u.exec(headers.get('authorization') ?? '') ?? [];
    const isOfPage = headers.has('origin') || headers.has('sec-fetch-site');
    if (!guard.knows(given) || isOfPage) {
      const says = 'Send the token that `pricelake mcp --http` printed: Authorization: Bearer TOKEN\n';
      return new Response(says, { status: 401, headers: { 'WWW-Authenticate': 'Bearer' } });
    }
    if (new URL(request.url).pathname !== PATH) return new Response('Not found.\n', { status: 404 });
    return handler.fetch(request);
  };
  return {
    url: `http://${HOST}:${(server.address() as AddressInfo).port}${PATH}`,
    token: guard.token,
    async close() {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      await handler.close();
      server.closeAllConnections();
      await closed;
    },
  };
}
