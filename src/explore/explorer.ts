import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createAdaptorServer } from '@hono/node-server';
import type { Advice } from '../check/finding.js';
import type { Io } from '../io/io.js';
import { listen, shutDown } from '../io/listen.js';
import { buildApp } from './app.js';
import type { WriteRows } from './download.js';
import { createGuard } from './guard.js';
import type { CopyNow } from './now.js';
import { type LakeSource, Snapshots, type SnapshotsOptions } from './snapshots.js';
import { Uploads } from './upload.js';

export interface ExplorerOptions extends Omit<SnapshotsOptions, 'report'> {
  host: string;
  /** 0 lets the system choose a free port. */
  port: number;
  writeRows: WriteRows;
  /** Advice on the findings of each check. */
  advice: ReadonlyMap<string, Advice>;
  /** The hosts from which the browser may load pictures. */
  pictures: ReadonlySet<string>;
  /** Describes facts about the copy that its tables don't hold. */
  tellNow(): Promise<CopyNow>;
}

export interface Explorer {
  /** The address with the token. Whoever has it can read the lake. */
  url: string;
  close(): Promise<void>;
}

/**
 * Serves the pages of a lake.
 * @throws PricelakeError `usage` if the address can't be opened, `lake_invalid` if the lake can't be read
 */
export async function startExplorer(
  source: LakeSource,
  options: ExplorerOptions,
  io: Pick<Io, 'log' | 'now'>,
): Promise<Explorer> {
  const { host, port, writeRows, advice, pictures, tellNow } = options;
  const report = (error: unknown) =>
    io.log('error', 'explore.failed', { reason: error instanceof Error ? error.message : String(error) });
  const snapshots = new Snapshots(source, { ...options, report });
  await snapshots.renew(); // fails now if the lake can't be read
  let handle: (request: Request) => Response | Promise<Response> = () => new Response(null, { status: 503 });
  const server = createAdaptorServer({
    fetch: (request: Request) => handle(request),
    overrideGlobalObjects: false,
  }) as Server;
  try {
    await listen(server, host, port);
  } catch (error) {
    await snapshots.close();
    throw error;
  }
  const bound = server.address() as AddressInfo;
  const uploads = new Uploads(snapshots);
  const guard = createGuard(host, bound.port);
  handle = buildApp({ snapshots, guard, writeRows, advice, uploads, pictures, tellNow, now: io.now, report }).fetch;
  const shown = host === '0.0.0.0' || host === '::' ? '127.0.0.1' : host;
  const name = shown.includes(':') ? `[${shown}]` : shown;
  return {
    url: `http://${name}:${bound.port}/?token=${guard.token}`,
    async close() {
      await shutDown(server);
      await snapshots.close();
      await uploads.close();
    },
  };
}
