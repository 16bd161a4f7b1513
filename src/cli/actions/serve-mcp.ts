import type { McpServer } from '@modelcontextprotocol/server';
import { serveStdio } from '@modelcontextprotocol/server/stdio';
import pLimit from 'p-limit';
import { QUESTION_MS } from '../../explore/question.js';
import { Snapshots } from '../../explore/snapshots.js';
import type { Arguments, CommandContext } from '../command.js';
import type { mcp } from '../commands/mcp.js';
import { chooseRemote, findTarget } from '../find-target.js';
import type { Desk } from '../mcp/desk.js';
import { createServer } from '../mcp/serve.js';
import { serveHttp } from '../mcp/serve-http.js';
import { SessionBudget } from '../mcp/session-budget.js';
import { untilStopped } from '../run-command.js';
import { openSource } from './explore-lake.js';
import { DEFAULT_BUDGET } from './show-status.js';

/** Runs the MCP server until the client closes stdin or a signal arrives. The command succeeds in either case. */
export async function serveMcp(request: Arguments<typeof mcp>, context: CommandContext): Promise<undefined> {
  const { io, signal } = context;
  const report = (error: unknown) =>
    io.log('error', 'mcp.failed', { reason: error instanceof Error ? error.message : String(error) });
  const { desk, close } = await openDesk(request, context, report);
  const ended = new AbortController();
  const stop = AbortSignal.any([signal, ended.signal]);
  try {
    await desk.snapshots.renew(); // fails immediately if the lake can't be read
    const create = () => createServer(desk, stop);
    const server = request.http === true ? await openHttp(create, request, context, report) : openStdio(create);
    await untilStopped(stop);
    await server.close();
  } finally {
    ended.abort();
    await close();
  }
  return undefined;

  function openStdio(create: () => McpServer) {
    process.stdin.once('end', () => ended.abort()).once('close', () => ended.abort());
    return serveStdio(create, { onerror: report });
  }
}

async function openHttp(
  create: () => McpServer,
  { port = 0 }: Arguments<typeof mcp>,
  { output, json }: CommandContext,
  onerror: (error: Error) => void,
) {
  const server = await serveHttp(create, { port, onerror });
  const { url, token } = server;
  await output.write(
    json
      ? `${JSON.stringify({ url, token })}\n`
      : `${url}\nAuthorization: Bearer ${token}\n\nEnter both in an MCP client on this machine. Press Ctrl-C to stop.\n`,
  );
  return server;
}

async function openDesk(request: Arguments<typeof mcp>, { io }: CommandContext, report: (error: unknown) => void) {
  const { list, currency, ownSite, memory, timeout = QUESTION_MS, pipeline, fx, fxBase = 'EUR' } = request;
  const { lake: path, settings } = await findTarget({ pipeline, lake: request.lake });
  const remote = chooseRemote(request, io);
  const source = await openSource(path, remote);
  const watched = list === undefined ? undefined : { list, currency, ownSite };
  const rates = fx === undefined ? undefined : { file: fx, base: fxBase };
  const snapshots = new Snapshots(source, { memory, list: watched, rates, report });
  const desk: Desk = {
    ...{ path, lake: source.lake, remote, snapshots, io, now: io.now, most: timeout, pipeline, rates },
    ...{ plans: new Map(), inTurn: pLimit(1) },
    mapping: settings?.source.mapping ?? {},
    monthly: settings?.budget ?? DEFAULT_BUDGET,
    allowSync: request.allowSync === true,
    session: new SessionBudget({
      calls: BigInt(request.maxCalls),
      exportRows: BigInt(request.maxRows),
      overageBlocks: BigInt(request.maxOverage),
    }),
  };
  return { desk, close: () => snapshots.close() };
}
