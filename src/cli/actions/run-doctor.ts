import { link, mkdtemp, readdir, rm, stat, statfs, writeFile } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { fetchPlan, hasFeed } from '../../account/read-plan.js';
import { createClient } from '../../api/client.js';
import type { Pipeline } from '../../config/pipeline-file.js';
import { PricelakeError } from '../../errors/errors.js';
import { formatCount } from '../../formats/count.js';
import { openLake } from '../../lake/lake.js';
import { ignoreMissing } from '../../lake/layout.js';
import { readLock } from '../../lake/lock.js';
import { readPartial } from '../../lake/partial.js';
import { readPointer } from '../../lake/pointer.js';
import { readTable } from '../../lake/read.js';
import { allowance, countLeft } from '../../plan/allowance.js';
import { inspectActivity } from '../../run/inspect-runs.js';
import { TABLE_NAMES } from '../../tables/table.js';
import type { Arguments } from '../command.js';
import type { doctor } from '../commands/doctor.js';
import { openPipeline } from '../find-target.js';
import { layOutTable } from '../output/table-layout.js';
import { toPlainLine } from '../plain-text.js';
import { formatBytes, formatSeconds } from '../progress.js';
import type { CommandContext, CommandReport } from '../run-command.js';
import { paint } from '../style.js';

/** What looking at one thing found. */
interface Finding {
  name: string;
  state: 'ok' | 'warn' | 'failed';
  found: string;
  /** What to do; for findings that are not ok. */
  next?: string | undefined;
}

/**
 * Looks at everything that a sync needs. Makes one call, and changes nothing.
 * @throws PricelakeError `check_failed` when something failed
 */
export async function runDoctor(request: Arguments<typeof doctor>, context: CommandContext): Promise<CommandReport> {
  const findings: Finding[] = [lookAtNode()];
  const pipeline = await openPipeline(request, context).catch(toFinding('pipeline'));
  if ('state' in pipeline) findings.push(pipeline);
  else {
    findings.push({ name: 'pipeline', state: 'ok', found: pipeline.file });
    const { path } = pipeline.lake;
    const looks: [string, () => Promise<Finding[]>][] = [
      ['disk', () => lookAtDisk(path)],
      ['file system', () => lookAtFileSystem(path)],
      ['service', () => lookAtService(pipeline, context)],
      ['lake', () => lookAtLake(path, context)],
      ['remote', () => lookAtRemote(pipeline, context)],
    ];
    for (const [name, look] of looks) findings.push(...(await look().catch((error) => [toFinding(name)(error)])));
  }
  if (!context.json) await context.output.write(formatFindings(findings, context));
  const failed = findings.filter(({ state }) => state === 'failed');
  if (failed.length === 0) return { findings };
  const names = failed.map(({ name }) => name).join(', ');
  throw new PricelakeError(
    'check_failed',
    `${failed.length === 1 ? '1 problem' : `${failed.length} problems`}: ${names}`,
    {
      findings,
    },
  );
}

function lookAtNode(): Finding {
  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
  const isOld = major < 20 || (major === 20 && minor < 19);
  const found = `${process.versions.node} on ${process.platform}`;
  return isOld
    ? { name: 'node', state: 'failed', found, next: 'Install Node 20.19 or newer.' }
    : { name: 'node', state: 'ok', found };
}

/** An error, with the hint that a command would print. */
function toFinding(name: string): (error: unknown) => Finding {
  return (error) => {
    if (!(error instanceof Error) || (error instanceof PricelakeError && error.code === 'stopped')) throw error;
    const next = error instanceof PricelakeError ? error.facts.hint : undefined;
    return { name, state: 'failed', found: error.message, next };
  };
}

function formatFindings(findings: Finding[], { output: { columns }, style, io }: CommandContext): string {
  const rows = findings.map(({ name, state, found }) => [
    state === 'failed' ? 'FAILED' : state,
    name,
    io.redact(toPlainLine(found)),
  ]);
  const table = layOutTable(['', 'what', 'found'], rows, columns);
  const steps = findings.flatMap(({ name, next }) => (next === undefined ? [] : [`${name} → ${toPlainLine(next)}\n`]));
  return (
    paint(table, [/^FAILED/gmu, style.bad], [/^warn/gmu, style.warn], [/^ok/gmu, style.good]) +
    (steps.length === 0 ? '' : `\n${steps.join('')}`)
  );
}

const LEAST_BYTES = 200e6;
const FEW_BYTES = 2e9;

/** The lake's folder, or the nearest folder above it that exists. */
async function findExisting(path: string): Promise<string> {
  for (let folder = resolve(path); ; folder = dirname(folder)) {
    if ((await stat(folder).catch(ignoreMissing)) !== undefined || folder === dirname(folder)) return folder;
  }
}

/** Room for the lake: a copy needs about the size of its raw bytes and tables together. */
async function lookAtDisk(path: string): Promise<Finding[]> {
  const { bavail, bsize } = await statfs(await findExisting(path));
  const free = bavail * bsize;
  const state = free < LEAST_BYTES ? 'failed' : free < FEW_BYTES ? 'warn' : 'ok';
  const next = state === 'ok' ? undefined : 'Free some space: copying a million listings takes about 2 GB.';
  return [{ name: 'disk', state, found: `${formatBytes(free)} free for ${path}`, next }];
}

/** Commits and locks need hard links, which some network and container file systems lack. */
async function lookAtFileSystem(path: string): Promise<Finding[]> {
  const name = 'file system';
  const folder = await mkdtemp(join(await findExisting(path), '.pricelake-doctor-')).catch((error: Error) => error);
  if (folder instanceof Error) {
    return [
      {
        name,
        state: 'failed',
        found: `${path}: ${folder.message}`,
        next: 'Give the user of this process the right to write there.',
      },
    ];
  }
  try {
    await writeFile(join(folder, 'a'), 'x');
    await link(join(folder, 'a'), join(folder, 'b'));
    const { nlink } = await stat(join(folder, 'b'));
    if (nlink === 2) return [{ name, state: 'ok', found: 'writable, with hard links' }];
    return [{ name, state: 'failed', found: 'a hard link becomes a copy', next: 'Keep the lake on a local disk.' }];
  } catch (error) {
    const found = `no hard links: ${(error as Error).message}`;
    return [{ name, state: 'failed', found, next: 'Keep the lake on a local disk.' }];
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

const SKEW_SECONDS = 60;

/** One call: does the service answer, does it accept the key, what is left of the plan, and do the clocks agree? */
async function lookAtService({ source, budget }: Pipeline, { io, signal }: CommandContext): Promise<Finding[]> {
  const client = createClient({ ...source, signal, retry: { attempts: 2 } }, io);
  try {
    const plan = await fetchPlan(client);
    const left = allowance(plan, budget).calls;
    const calls = left === undefined ? undefined : countLeft(left);
    const feed = hasFeed(plan) ? 'with the change feed' : 'without the change feed';
    const isUsedUp = calls !== undefined && calls <= 0n;
    return [
      { name: 'service', state: 'ok', found: `${source.baseUrl} answers and accepts the key` },
      {
        name: 'plan',
        state: isUsedUp ? 'warn' : 'ok',
        found: `${plan.name}, ${feed}, ${calls === undefined ? 'unlimited' : formatCount(calls)} calls left in the budget`,
        next: isUsedUp ? 'Wait for the next month, or raise budget.calls in the pipeline file.' : undefined,
      },
      compareClocks(client.serviceTime(), io.now()),
    ];
  } finally {
    await client.close();
  }
}

function compareClocks(service: Date | undefined, now: Date): Finding {
  if (service === undefined) return { name: 'clock', state: 'ok', found: 'the service does not send its time' };
  const skew = Math.abs(service.getTime() - now.getTime()) / 1000;
  const found = `${formatSeconds(skew)} from the service's clock`;
  if (skew <= SKEW_SECONDS) return { name: 'clock', state: 'ok', found };
  return {
    name: 'clock',
    state: 'warn',
    found,
    next: 'Check the clock of this machine: if it is the wrong one, the receiver refuses webhooks.',
  };
}

/** The logs of every table can be read, and what waits is named. Proofs are left to `verify`. */
async function lookAtLake(path: string, { io }: CommandContext): Promise<Finding[]> {
  const name = 'lake';
  const lake = await openLake(path, { create: false }).catch((error: unknown) => {
    if (error instanceof PricelakeError && error.code === 'lake_invalid') return error;
    throw error;
  });
  const missing = /there is no lake here$/u;
  if (lake instanceof PricelakeError) {
    if (!missing.test(lake.message)) throw lake;
    const [other] = (await readdir(path).catch(ignoreMissing)) ?? [];
    if (other !== undefined) {
      const next = 'Name an empty folder in lake.path, or one that does not exist.';
      return [{ name, state: 'failed', found: `${path} is not a lake; it holds ${other}`, next }];
    }
    return [{ name, state: 'ok', found: `nothing at ${path} yet; the first sync makes it` }];
  }
  for (const table of TABLE_NAMES) await readTable(lake, table);
  const pointer = await readPointer(lake);
  const { open } = await inspectActivity(lake, await readLock(lake, io));
  const published =
    pointer === undefined ? 'nothing published' : `run ${pointer.runNumber} of ${pointer.at.toISOString()}`;
  if (open?.state === 'held') {
    const found = `${published}; run ${open.runNumber} is held by ${open.checks.join(', ')}`;
    return [{ name, state: 'warn', found, next: '`pricelake help recover` says what to do about a held batch.' }];
  }
  const running = open === undefined ? '' : `; run ${open.runNumber} is ${open.state}`;
  const partial = await readPartial(lake);
  const elsewhere = partial === undefined ? '' : `; files that no run has needed here are on ${partial.remote} only`;
  return [{ name, state: 'ok', found: published + running + elsewhere }];
}

/** The bucket answers; a run that holds it is named. */
async function lookAtRemote({ lake: { remote } }: Pipeline, { io }: CommandContext): Promise<Finding[]> {
  if (remote === undefined) return [];
  const [{ parseRemoteUrl }, { openS3Store }, { readHolder }] = await Promise.all([
    import('../../remote/remote-url.js'),
    import('../../remote/s3-store.js'),
    import('../../remote/lease.js'),
  ]);
  const url = parseRemoteUrl(remote);
  if (url === undefined) return [];
  const store = await openS3Store(url, io);
  try {
    const holder = await readHolder(store);
    const by =
      holder === undefined ? '' : `; a run on ${holder.host} ${holder.alive ? 'holds it' : 'died while it held it'}`;
    return [{ name: 'remote', state: 'ok', found: `${remote} answers${by}` }];
  } finally {
    store.close();
  }
}
