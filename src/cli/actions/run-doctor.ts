import { link, mkdtemp, readdir, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describeProposals, proposeAttributes, writeAttributes } from '../../analyze/attribute-proposals.js';
import { createClient } from '../../api/client.js';
import type { Pipeline } from '../../config/pipeline.js';
import { formatBytes } from '../../formats/bytes.js';
import { countOf } from '../../formats/count.js';
import { parseRemoteUrl } from '../../formats/remote-url.js';
import { ignoreMissing, PricelakeError } from '../../io/errors.js';
import { findExisting, readFreeBytes } from '../../io/machine.js';
import { openLake } from '../../lake/lake.js';
import { readLock } from '../../lake/lock-state.js';
import { readPartial } from '../../lake/partial.js';
import { readPointer } from '../../lake/pointer.js';
import { readTable } from '../../lake/read.js';
import { countRows } from '../../lake/slices.js';
import { countLeft, findAllowance } from '../../plan/allowance.js';
import { countDisk } from '../../plan/disk.js';
import { fetchAccountPlan, hasFeed } from '../../run/open/account.js';
import { inspectOpenRun } from '../../run/open/inspect-runs.js';
import { TABLE_NAMES, type TableName } from '../../tables/table.js';
import { openStore, readHolder } from '../../wings/remote/index.js';
import type { Arguments, CommandContext } from '../command.js';
import type { doctor } from '../commands/copy.js';
import { openPipeline } from '../find-target.js';
import { layOutTable } from '../output/table-layout.js';
import { toPlainLine } from '../plain-text.js';
import { formatSeconds } from '../progress.js';
import { readLake } from '../read-lake.js';
import { paint } from '../style.js';

interface Finding {
  name: string;
  state: 'ok' | 'warn' | 'failed';
  found: string;
  /** The advice on what the user should do next. Undefined if nothing needs to be done. */
  next?: string | undefined;
}

const ok = (name: string, found: string): Finding => ({ name, state: 'ok', found });
const warn = (name: string, found: string, next: string): Finding => ({ name, state: 'warn', found, next });
const failed = (name: string, found: string, next?: string): Finding => ({ name, state: 'failed', found, next });

/** Runs all diagnostics. @throws PricelakeError `check_failed` if a finding has the state `failed` */
export async function runDoctor(request: Arguments<typeof doctor>, context: CommandContext) {
  const findings: Finding[] = [lookAtNode()];
  const pipeline = await openPipeline(request, context).catch(toFinding('pipeline'));
  if ('state' in pipeline) findings.push(pipeline);
  else {
    findings.push(ok('pipeline', pipeline.file));
    const { path } = pipeline.lake;
    const looks: [string, () => Promise<Finding | Finding[]>][] = [
      ['disk', () => lookAtDisk(path)],
      ['file system', () => lookAtFileSystem(path)],
      ['service', () => lookAtService(pipeline, context)],
      ['lake', () => lookAtLake(path, context)],
      ['attributes', () => lookAtAttributes(path, context)],
      ['remote', () => lookAtRemote(pipeline, context)],
    ];
    for (const [name, look] of looks) findings.push(...[await look().catch(toFinding(name))].flat());
  }
  if (!context.json) await context.output.write(formatFindings(findings, context));
  const names = findings.filter(({ state }) => state === 'failed').map(({ name }) => name);
  if (names.length === 0) return { findings };
  throw new PricelakeError('check_failed', `${countOf(names.length, 'problem')}: ${names.join(', ')}`, { findings });
}

function lookAtNode(): Finding {
  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
  const found = `${process.versions.node} on ${process.platform}`;
  const isOld = major < 20 || (major === 20 && minor < 19);
  return isOld ? failed('node', found, 'Install Node 20.19 or newer.') : ok('node', found);
}

/** Returns a function that converts an error to a failed finding. The error's hint becomes the next step. */
function toFinding(name: string): (error: unknown) => Finding {
  return (error) => {
    if (!(error instanceof Error) || (error instanceof PricelakeError && error.code === 'stopped')) throw error;
    return failed(name, error.message, error instanceof PricelakeError ? error.facts.hint : undefined);
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

/** The free disk space, in bytes, that even a small run may need for its journal, logs and temporary files. */
const LEAST_BYTES = 200e6;
const MILLION = 1_000_000n;

/** Checks that the disk has room for a second copy of all items. Usually, a run needs no more than that. */
async function lookAtDisk(path: string): Promise<Finding> {
  const free = await readFreeBytes(await findExisting(path));
  const lake = await openLake(path, { create: false }).catch(() => undefined);
  const items = lake === undefined ? 0n : countRows((await readTable(lake, 'items')).files);
  const needed = countDisk({ items, changes: 0n });
  const copies = (count: bigint) =>
    `${countOf(count, 'item')} takes about ${formatBytes(countDisk({ items: count, changes: 0n }))}`;
  const changes = `a million changes about ${formatBytes(countDisk({ items: 0n, changes: MILLION }))}`;
  const found = `${formatBytes(free)} free for ${path}; a copy of ${copies(items === 0n ? MILLION : items)}, ${changes}`;
  if (free < LEAST_BYTES) return failed('disk', found, 'Free some space.');
  return free < needed ? warn('disk', found, 'Free some space, or move the lake to a larger disk.') : ok('disk', found);
}

/**
 * Checks that the file system supports hard links, which commits and locks need. Some network file systems and some
 * file systems of containers don't support them.
 */
async function lookAtFileSystem(path: string): Promise<Finding> {
  const name = 'file system';
  const folder = await mkdtemp(join(await findExisting(path), '.pricelake-doctor-')).catch((error: Error) => error);
  if (folder instanceof Error) {
    return failed(name, `${path}: ${folder.message}`, "Give this process's user permission to write there.");
  }
  const next = 'Keep the lake on a local disk.';
  try {
    await writeFile(join(folder, 'a'), 'x');
    await link(join(folder, 'a'), join(folder, 'b'));
    const { nlink } = await stat(join(folder, 'b'));
    return nlink === 2
      ? ok(name, 'writable, with hard links')
      : failed(name, 'the file system copies files instead of creating hard links', next);
  } catch (error) {
    return failed(name, `can't create hard links: ${(error as Error).message}`, next);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

const SKEW_SECONDS = 60;

/** Makes one call to check the service, the key, the plan and the clocks. */
async function lookAtService({ source, budget }: Pipeline, { io, signal }: CommandContext): Promise<Finding[]> {
  const client = createClient({ ...source, signal, attempts: 2 }, io);
  try {
    const plan = await fetchAccountPlan(client);
    const left = findAllowance(plan, budget).calls;
    const calls = left === undefined ? undefined : countLeft(left);
    const feed = hasFeed(plan) ? 'with the change feed' : 'without the change feed';
    const found = `${plan.name}, ${feed}, ${calls === undefined ? 'unlimited calls' : countOf(calls, 'call')} left in the budget`;
    return [
      ok('service', `${source.baseUrl} responds and accepts the key`),
      calls !== undefined && calls <= 0n
        ? warn('plan', found, 'Wait until next month, or raise budget.calls in the pipeline file.')
        : ok('plan', found),
      compareClocks(client.serviceTime(), io.now()),
    ];
  } finally {
    await client.close();
  }
}

function compareClocks(service: Date | undefined, now: Date): Finding {
  if (service === undefined) return ok('clock', "the service doesn't send its time");
  const skew = Math.abs(service.getTime() - now.getTime()) / 1000;
  const found = `${formatSeconds(skew)} off the service's clock`;
  if (skew <= SKEW_SECONDS) return ok('clock', found);
  const next = "Check this machine's clock. If it is wrong, the receiver will reject webhooks.";
  return warn('clock', found, next);
}

/**
 * Checks that the transaction log of every table can be read, and reports an unfinished run. Unlike `verify`, doesn't
 * check the data.
 */
async function lookAtLake(path: string, { io }: CommandContext): Promise<Finding> {
  const lake = await openLake(path, { create: false }).catch((error: unknown) => {
    if (error instanceof PricelakeError && error.code === 'lake_invalid') return error;
    throw error;
  });
  if (lake instanceof PricelakeError) {
    if (!/there is no lake here$/u.test(lake.message)) throw lake;
    const [other] = (await readdir(path).catch(ignoreMissing)) ?? [];
    if (other === undefined) return ok('lake', `${path} is empty; the first sync creates the lake`);
    const next = "Set lake.path to an empty folder, or to one that doesn't exist yet.";
    return failed('lake', `${path} is not a lake; it contains ${other}`, next);
  }
  for (const table of TABLE_NAMES) await readTable(lake, table);
  const pointer = await readPointer(lake);
  const open = await inspectOpenRun(lake, (await readLock(lake, io))?.alive === true);
  const published =
    pointer === undefined ? 'nothing published' : `run ${pointer.runNumber} of ${pointer.at.toISOString()}`;
  if (open?.state === 'held') {
    const found = `${published}; run ${open.runNumber} is held by ${open.checks.join(', ')}`;
    return warn('lake', found, '`pricelake help recover` explains what to do about a held batch.');
  }
  const running =
    open === undefined ? '' : `; run ${open.runNumber} ${open.state === 'landed' ? 'has' : 'is'} ${open.state}`;
  const partial = await readPartial(lake);
  const remoteFiles =
    partial === undefined ? '' : `; files that local runs haven't needed are only on ${partial.remote}`;
  return ok('lake', published + running + remoteFiles);
}

/**
 * Lists attributes that seem to contain availability, shipping costs or similar data but aren't mapped in the pipeline
 * file.
 */
async function lookAtAttributes(path: string, { signal }: CommandContext): Promise<Finding[]> {
  const lake = await openLake(path, { create: false }).catch(() => undefined);
  // If the lake can't be opened, `lookAtLake` has already reported why.
  if (lake === undefined || (await readPointer(lake)) === undefined || (await readPartial(lake)) !== undefined)
    return [];
  const tables = (): TableName[] => ['items', 'offer_rules'];
  const proposals = await readLake({ path, signal, tables }, ({ db }) => proposeAttributes(db));
  if (proposals.length === 0) return [];
  const lines = `analysis: { attributes: { ${writeAttributes(proposals)} } }`;
  const next = `Check the values with pricelake query --analysis attribute_names. If the proposal is right, add ${lines} to the pipeline file.`;
  return [{ ...ok('attributes', `not mapped: ${describeProposals(proposals)}`), next }];
}

async function lookAtRemote({ lake: { remote } }: Pipeline, { io }: CommandContext): Promise<Finding[]> {
  if (remote === undefined || parseRemoteUrl(remote) === undefined) return [];
  const store = await openStore(remote, io);
  try {
    const holder = await readHolder(store);
    const state = holder?.alive === true ? 'holds it' : 'died while holding it';
    return [ok('remote', `${remote} responds${holder === undefined ? '' : `; a run on ${holder.host} ${state}`}`)];
  } finally {
    store.close();
  }
}
