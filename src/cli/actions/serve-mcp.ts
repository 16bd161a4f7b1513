import { serveStdio } from '@modelcontextprotocol/server/stdio';
import { QUESTION_MS } from '../../explore/question.js';
import { Snapshots } from '../../explore/snapshots.js';
import { openLake } from '../../lake/lake.js';
import type { Arguments, CommandContext } from '../command.js';
import type { mcp } from '../commands/mcp.js';
import { findTarget } from '../find-target.js';
import type { Desk } from '../mcp/desk.js';
import { createServer } from '../mcp/serve.js';
import { SessionBudget } from '../mcp/session-budget.js';
import { untilStopped } from '../run-command.js';
import { DEFAULT_BUDGET } from './show-status.js';

/** Serves until the client closes stdin, or a signal comes: both are how a server finishes its work. */
export async function serveMcp(request: Arguments<typeof mcp>, context: CommandContext): Promise<undefined> {
  const { io, signal } = context;
  const report = (error: unknown) =>
    io.log('error', 'mcp.failed', { reason: error instanceof Error ? error.message : String(error) });
  const { desk, close } = await openDesk(request, context, report);
  const ended = new AbortController();
  const stop = AbortSignal.any([signal, ended.signal]);
  try {
    await desk.snapshots.renew(); // a lake that can't be read is an error now
    process.stdin.once('end', () => ended.abort()).once('close', () => ended.abort());
    const server = serveStdio(() => createServer(desk, stop), { onerror: report });
    await untilStopped(stop);
    await server.close();
  } finally {
    ended.abort();
    await close();
  }
  return undefined;
}

async function openDesk(request: Arguments<typeof mcp>, { io }: CommandContext, report: (error: unknown) => void) {
  const { list, currency, ownSite, memory, timeout = QUESTION_MS } = request;
  const { lake: path, settings } = await findTarget({ pipeline: request.pipeline, lake: request.lake });
  const lake = await openLake(path, { create: false });
  const watched = list === undefined ? undefined : { list, currency, ownSite };
  const snapshots = new Snapshots({ lake }, { memory, list: watched, report });
  const desk: Desk = {
    ...{ path, lake, snapshots, io, now: io.now, most: timeout, pipeline: request.pipeline },
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
