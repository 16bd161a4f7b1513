import { appendFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { fetch } from 'undici';
import { toJsonText } from '../json-text.js';
import { toPlainLine } from '../plain-text.js';
import type { CliIo } from '../terminal-io.js';
import type { RunObserver, WatchedPipeline } from '../watch/watch-run.js';
import { describeEnd, describeStart, type LineageEvent, newLineageId } from './lineage-event.js';

/** A catalog that doesn't answer holds up no run for longer. */
const TIMEOUT_MS = 10_000;

/**
 * Sends OpenLineage events to a file, one line each, or by POST to an address; OPENLINEAGE_API_KEY is the token. Lineage tells
 * of runs and is no part of them: an event that can't be delivered is a warning, and the run continues.
 */
export function openLineage(target: string, io: CliIo, env: NodeJS.ProcessEnv): RunObserver {
  const id = newLineageId();
  const key = env.OPENLINEAGE_API_KEY;
  if (key !== undefined) io.protectSecret(key);
  const send = async (event: LineageEvent) => {
    try {
      await deliver(target, io.redact(toJsonText(event)), key);
    } catch (error) {
      io.log('warn', 'lineage.failed', {
        type: event.eventType,
        reason: error instanceof Error ? error.message : String(error),
      });
    }
  };
  const locate = (pipeline: WatchedPipeline) => ({ ...pipeline, lakePath: resolve(pipeline.lakePath) });
  return {
    begin: (pipeline, at) => send(describeStart(id, locate(pipeline), at)),
    end: async (run) => {
      if (run.pipeline === undefined) return;
      await send(await describeEnd(id, locate(run.pipeline), run, describeError));
    },
  };
}

function describeError(error: unknown): string {
  return toPlainLine(error instanceof Error ? error.message : String(error));
}

async function deliver(target: string, text: string, key: string | undefined): Promise<void> {
  if (!/^https?:\/\//.test(target)) return appendFile(target, `${text}\n`);
  const headers = {
    'content-type': 'application/json',
    ...(key === undefined ? {} : { authorization: `Bearer ${key}` }),
  };
  const answer = await fetch(target, { method: 'POST', headers, body: text, signal: AbortSignal.timeout(TIMEOUT_MS) });
  if (!answer.ok) throw new Error(`the catalog answered ${answer.status}`);
}
