import { findPipeline } from '../../config/find-pipeline.js';
import { readPipeline, readReceiver } from '../../config/pipeline-file.js';
import { PricelakeError } from '../../errors/errors.js';
import { openLake } from '../../lake/lake.js';
import { ID_MEMORY_MS, listEvents } from '../../webhook/event-files.js';
import { EventStore } from '../../webhook/event-store.js';
import { HEALTH_PATH, startReceiver } from '../../webhook/receiver.js';
import { SigningSecrets } from '../../webhook/signing-secrets.js';
import { SyncTrigger } from '../../webhook/sync-trigger.js';
import { readDuration } from '../duration.js';
import type { CommandContext } from '../run-command.js';
import { runSyncProcess } from '../sync-process.js';

/** Options of `pricelake webhook`. */
export interface WebhookArguments {
  pipeline?: string | undefined;
  lake: string | undefined;
  host: string;
  port: number;
  path: string;
  'max-age': string;
  'max-skew': string;
  'max-body': number;
  sync: boolean;
  'sync-after': string;
}

/** Serves until it is stopped: never returns, throws `stopped`. */
export async function serveWebhook(argv: WebhookArguments, context: CommandContext): Promise<never> {
  const { io, signal, output, json } = context;
  const limits = readLimits(argv);
  const file = await findPipeline(argv.pipeline, process.env);
  const { lakePath, secrets: sources } = await readReceiver(file, process.env);
  // A mistake that would end every run is reported now.
  if (argv.sync) io.protectSecret((await readPipeline(file, process.env)).source.apiKey);
  const secrets = await SigningSecrets.open(sources, io.protectSecret, io);
  const lake = await openLake(argv.lake ?? lakePath, { create: true });
  const store = await EventStore.open(lake.root, io);
  const trigger = argv.sync
    ? startTrigger([file, ...(argv.lake === undefined ? [] : ['--lake', argv.lake])], limits.syncAfterMs, context)
    : undefined;
  const reload = () => void secrets.reload();
  process.on('SIGHUP', reload);
  try {
    const address = { host: argv.host, port: argv.port, path: argv.path };
    const receiver = await startReceiver(
      { ...address, ...limits, secrets, store, onLanded: () => trigger?.want() },
      io,
    );
    try {
      const waiting = (await listEvents(lake.root)).length;
      if (waiting > 0) trigger?.want();
      io.log('info', 'webhook.listening', { url: receiver.url, lake: lake.root, waiting, sync: argv.sync });
      await output.write(json ? `${JSON.stringify({ url: receiver.url, lake: lake.root })}\n` : describe(receiver.url));
      await untilAborted(signal);
    } finally {
      await receiver.close();
    }
  } finally {
    process.off('SIGHUP', reload);
    await trigger?.close();
  }
  throw signal.reason;
}

function untilAborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    signal.addEventListener('abort', () => resolve(), { once: true });
  });
}

function startTrigger(args: string[], delayMs: number, { io }: CommandContext): SyncTrigger {
  return new SyncTrigger((stop) => runSyncProcess(args, io, stop), delayMs, io);
}

function describe(url: string): string {
  return `Webhooks are received on ${url}; give the service the address under which it reaches this. Ctrl-C ends it.\n`;
}

function readLimits(argv: WebhookArguments) {
  const maxAgeMs = readDuration('--max-age', argv['max-age'], 'allowed');
  // Ids are kept as long as a repeat may come.
  if (maxAgeMs > ID_MEMORY_MS) throw new PricelakeError('usage', `--max-age ${argv['max-age']} is more than 7d`);
  const maxBodyBytes = Math.round(argv['max-body'] * 1_000_000);
  if (!(maxBodyBytes >= 1 && maxBodyBytes <= 1_000_000_000)) {
    throw new PricelakeError('usage', `--max-body ${argv['max-body']} is not a size in MB up to 1000`);
  }
  if (!/^\/[^\s?#]*$/.test(argv.path) || argv.path === HEALTH_PATH) {
    throw new PricelakeError('usage', `--path ${argv.path} is not a path such as /webhook, other than ${HEALTH_PATH}`);
  }
  if (!(Number.isInteger(argv.port) && argv.port >= 0 && argv.port <= 65_535)) {
    throw new PricelakeError('usage', `--port ${argv.port} is not from 0 to 65535`);
  }
  const maxSkewMs = readDuration('--max-skew', argv['max-skew'], 'allowed');
  return {
    maxAgeMs,
    maxSkewMs,
    maxBodyBytes,
    syncAfterMs: readDuration('--sync-after', argv['sync-after'], 'allowed'),
  };
}
