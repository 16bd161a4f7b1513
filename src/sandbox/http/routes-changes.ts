import type { Hono } from 'hono';
import type { Plan } from '../plans.js';
import type { FeedPage } from '../world/change-feed.js';
import type { World } from '../world/world.js';
import { ApiError, answerJson, refuseByLimit, refuseParameter } from './answers.js';
import { type Caller, chooseDatasets, feedEnd, historyStart, type SandboxEnv, type Service } from './caller.js';

const CHANGED = 1;
const RECENT_KINDS = ['NEW', 'CHANGED', 'REMOVED', 'RELISTED', 'PRICE_DROP', 'PRICE_RISE'] as const;

/** Adds `/changes` and `/changes/recent` (API §4). */
export function addChangeRoutes(app: Hono<SandboxEnv>, service: Service): void {
  const { world, readings } = service;

  app.get('/changes', (c) => {
    const { caller, parameters } = c.var;
    if (!caller.plan.limits.changeFeed) throw refuseFeed(caller.plan);
    const after = parameters.int64('after') ?? 0n;
    const page = world.feed.readForward(after, {
      mask: chooseDatasets(c.var, readings.get('unknownDataset')),
      limit: parameters.int32('limit', { min: 1, max: 1000, byDefault: 500 }),
      since: findFeedStart(service, caller, after),
      until: feedEnd(service),
    });
    return answerPage(world, page, after);
  });

  app.get('/changes/recent', (c) => {
    const { caller, parameters } = c.var;
    if (!caller.plan.limits.changeFeed && readings.get('recentOnFree') === '402') throw refuseFeed(caller.plan);
    const before = parameters.int64('before');
    const kind = parameters.choice('kind', RECENT_KINDS);
    const page = world.feed.readBackward(before, {
      mask: chooseDatasets(c.var, readings.get('unknownDataset')),
      limit: parameters.int32('limit', { min: 1, max: 200, byDefault: 50 }),
      since: historyStart(service, caller),
      until: feedEnd(service),
      ...(kind === null ? {} : { matches: matcherOf(kind) }),
    });
    return answerPage(world, page, before ?? 0n);
  });
}

function refuseFeed(plan: Plan): ApiError {
  return refuseByLimit(402, plan, 'changeFeed', `The ${plan.name} plan doesn't include the change feed.`);
}

/**
 * Returns the start of the visible changes. The `feed.oldCursor` interpretation determines what happens if the cursor
 * is older.
 */
function findFeedStart(service: Service, caller: Caller, after: bigint): number {
  const { world, readings } = service;
  const start = historyStart(service, caller);
  const reading = readings.get('feed.oldCursor');
  if (after <= 0n || reading === 'gap' || !world.feed.hasBetween(after, start)) return start;
  if (reading === 'continue') return 0;
  if (reading === '410')
    throw new ApiError(410, `Cursor ${after} is older than the change history included in your plan.`);
  throw refuseParameter('after', String(after), "0, or a cursor that the plan's history reaches back to");
}

/** Returns a filter by kind. PRICE_DROP and PRICE_RISE match CHANGED with a lower or higher price (API §3). */
function matcherOf(kind: (typeof RECENT_KINDS)[number]): (kind: number, move: number) => boolean {
  if (kind === 'PRICE_DROP') return (found, move) => found === CHANGED && move < 0;
  if (kind === 'PRICE_RISE') return (found, move) => found === CHANGED && move > 0;
  const wanted = RECENT_KINDS.indexOf(kind);
  return (found) => found === wanted;
}

/** Builds a page of the feed. @param cursor the cursor to return if the page is empty */
function answerPage(world: World, page: FeedPage, cursor: bigint): Response {
  const last = page.rows.at(-1);
  const next = last === undefined ? cursor : world.feed.id(last);
  const wrapper = `],"hasMore":${page.hasMore},"nextCursor":${next}}`;
  return answerJson(world.feed.rows.wrap('{"changes":[', page.rows, wrapper));
}
