import { writeFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { type Report, writeReport as writePages } from '../../explore/report.js';
import { requireReportTarget } from '../../explore/report-file.js';
import { toBigInt, toDate, toNumber } from '../../explore/values.js';
import { formatBytes } from '../../formats/bytes.js';
import { countOf } from '../../formats/count.js';
import { PricelakeError } from '../../io/errors.js';
import { replaceOutput } from '../../io/output-file.js';
import { PRICELAKE_VERSION } from '../../io/package-path.js';
import { readMemory } from '../../journal/memory.js';
import { explainFileFault } from '../../lake/file-fault.js';
import { openLake } from '../../lake/lake.js';
import type { Arguments, CommandContext, CommandReport } from '../command.js';
import type { explore } from '../commands/read.js';
import { findTarget } from '../find-target.js';
import { joinLakes } from '../join-lakes.js';
import { loadAdvice } from '../load-advice.js';
import { listTries, withoutMessages } from './tell-copy.js';

/** The default memory limit of DuckDB. It leaves enough memory for the page and its charts. */
const MEMORY = '1GB';
const MOST_PRODUCTS = 24;

type ReportRequest = Arguments<typeof explore> & { output: string };

export async function writeReport(request: ReportRequest, context: CommandContext) {
  const { output, currency, minShops, top = 50, product: products = [], list, since, ownSite } = request;
  if (products.length > MOST_PRODUCTS) {
    const message = `--product is given ${products.length} times, but the limit is ${MOST_PRODUCTS}`;
    throw new PricelakeError('usage', message);
  }
  await requireReportTarget(output);
  const { io, signal } = context;
  const { lake: path } = await findTarget({ pipeline: request.pipeline, lake: await joinLakes(request, context) });
  const lake = await openLake(path, { create: false });
  const now = io.now();
  const written = await writePages(lake, {
    ...{ currency, minShops, top, products, since, ownSite, now, signal },
    memory: request.memory ?? MEMORY,
    list: list === undefined ? undefined : { list, currency, ownSite },
    advice: await loadAdvice(),
    tries: withoutMessages(listTries(await readMemory(lake))),
    version: PRICELAKE_VERSION,
  }).catch((error: unknown) => {
    throw explainFileFault(error);
  });
  signal.throwIfAborted();
  await replaceOutput(output, (path) => writeFile(path, written.page));
  const bytes = Buffer.byteLength(written.page);
  await context.say(describeForPeople(output, bytes, written));
  return { output: resolve(output), bytes, generatedAt: now, ...describeFacts(written) };
}

const isFailed = (read: Report['checks'][number]) => toBigInt(read('violations')) > 0n;

function describeForPeople(output: string, bytes: number, { overview, checks, summary, products }: Report): string {
  const passed = checks.filter((check) => !isFailed(check)).length;
  return `${output} (${formatBytes(bytes)}): ${[
    countOf(toBigInt(overview('listed')), 'listing'),
    `${passed} of ${countOf(checks.length, 'check')} passed`,
    countOf(toBigInt(summary('spreads')), 'spread'),
    countOf(toBigInt(overview('shops')), 'shop'),
    countOf(products.length, 'product'),
  ].join(', ')}\n`;
}

function describeFacts({ overview, runs, checks, summary, products, credits }: Report): CommandReport {
  const [last] = runs;
  const current = runs.map((read) => toDate(read('caught_up_at'))).find((at) => at !== undefined);
  return {
    listed: toBigInt(overview('listed')),
    newestChange: toDate(overview('newest_change')) ?? null,
    lastRunAt: (last && toDate(last('finished_at'))) ?? null,
    caughtUp: last === undefined ? null : last('caught_up') === true,
    listingUnknown: last === undefined ? null : toBigInt(last('listing_unknown')),
    currentUpTo: current ?? null,
    addsUp: runs.every((read) => read('adds_up') !== false),
    failedChecks: checks.filter(isFailed).map((read) => String(read('name'))),
    spreads: toBigInt(summary('spreads')),
    medianSpreadPct: toNumber(summary('median_pct')) ?? null,
    products: [...products],
    attribution: [...credits],
  };
}
