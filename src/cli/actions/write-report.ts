import { existsSync } from 'node:fs';
import { basename, resolve } from 'node:path';
import { requireKnown } from '../../analyze/spread-selection.js';
import { loadChecks } from '../../check/load.js';
import { countOf } from '../../formats/count.js';
import { PricelakeError } from '../../io/errors.js';
import { PRICELAKE_VERSION } from '../../io/package-path.js';
import { readPointer } from '../../lake/pointer.js';
import { renderReport } from '../../report/page.js';
import { type ReportFacts, readFacts, readWatched } from '../../report/read-facts.js';
import { readBreaches, readGaps } from '../../report/read-moves.js';
import { publishReport, requireReportTarget } from '../../report/report-file.js';
import type { Arguments, CommandContext, CommandReport } from '../command.js';
import type { report } from '../commands/read.js';
import { findTarget } from '../find-target.js';
import { openSpells } from '../prepare-spells.js';
import { formatBytes } from '../progress.js';
import { readLake } from '../read-lake.js';

/** Leaves memory for the page and the charts. */
const MEMORY = '1GB';
const MOST_PRODUCTS = 24;

export async function writeReport(request: Arguments<typeof report>, context: CommandContext) {
  const { output, currency, minShops, top, product: products = [], list, since, ownSite } = request;
  if (products.length > MOST_PRODUCTS) {
    const message = `--product is given ${products.length} times, but a report shows at most ${MOST_PRODUCTS}`;
    throw new PricelakeError('usage', message);
  }
  await requireReportTarget(output);
  const advice = new Map((await loadChecks()).map((check) => [check.name, check]));
  const { signal } = context;
  const { lake: path } = await findTarget({ lake: request.lake });
  const { facts, name } = await readLake({ path, signal, memory: MEMORY }, async (opened) => {
    const { db, lake } = opened;
    await requireKnown(db, { currency });
    await (await openSpells(opened, context.io)).prepare();
    const facts = await readFacts(db, { currency, minShops, top, products, since });
    if (ownSite !== undefined) facts.gaps = await readGaps(db, ownSite, currency ?? null, minShops);
    if (list !== undefined) {
      // As `watch` does, but the state is left for its next run.
      const state = `${list}.watch.parquet`;
      const before = existsSync(state) ? state : undefined;
      const options = { list, currency, ownSite };
      facts.watched = await readWatched(db, { ...options, before, now: context.io.now() });
      if (facts.watched.limited > 0n) facts.breaches = await readBreaches(db, options);
    }
    return { facts, name: (await readPointer(lake))?.pipeline ?? basename(lake.root) };
  });
  const generatedAt = context.io.now();
  const lake = basename(resolve(path));
  const page = await renderReport(facts, { name, lake, generatedAt, version: PRICELAKE_VERSION, advice });
  signal.throwIfAborted();
  await publishReport(output, page);
  const bytes = Buffer.byteLength(page);
  await context.say(describeForPeople(output, bytes, facts));
  return { output: resolve(output), bytes, generatedAt, ...describeFacts(facts) };
}

function describeForPeople(output: string, bytes: number, facts: ReportFacts): string {
  const { overview, checks, summary, shops, histories, credits } = facts;
  const failed = checks.filter(({ violations }) => violations > 0n).length;
  return `${output} (${formatBytes(bytes)}): ${[
    countOf(overview.listed, 'listing'),
    `${checks.length - failed} of ${countOf(checks.length, 'check')} passed`,
    countOf(summary.spreads, 'spread'),
    countOf(shops.length, 'shop'),
    countOf(histories.length, 'price history', 'price histories'),
    countOf(credits.length, 'credit'),
  ].join(', ')}\n`;
}

function describeFacts({ overview, runs, checks, summary, histories, credits }: ReportFacts): CommandReport {
  const [last] = runs;
  return {
    listed: overview.listed,
    newestChange: overview.newest_change,
    lastRunAt: last?.finished_at ?? null,
    caughtUp: last?.caught_up ?? null,
    listingUnknown: last?.listing_unknown ?? null,
    currentUpTo: runs.find(({ caught_up_at }) => caught_up_at !== null)?.caught_up_at ?? null,
    addsUp: runs.every(({ adds_up }) => adds_up),
    failedChecks: checks.filter(({ violations }) => violations > 0n).map(({ name }) => name),
    spreads: summary.spreads,
    medianSpreadPct: summary.median_pct,
    products: histories.map(({ product }) => product.product_id),
    attribution: credits.map(({ attribution }) => attribution),
  };
}
