import { countOf } from '../formats/count.js';
import { formatSeconds } from './progress.js';

type Facts = Record<string, unknown>;

/** Events that people see often, in words. A terminal shows these; logs in files have the facts. */
const SENTENCES: Record<string, (facts: Facts) => string> = {
  'api.retry': ({ reason, waitMs, attempt }) => `${reason}; ${tryAgain(waitMs, attempt)}`,
  'api.rate_limited': ({ reason, waitMs, attempt }) => `${reason}; ${tryAgain(waitMs, attempt)}`,
  'export.again': ({ shard, attempt, reason }) =>
    `export ${shard} broke off: ${reason}; trying again (attempt ${Number(attempt) + 1})`,
  'price_spells.preparing': ({ changes }) =>
    `Preparing the prices of the past from ${countOf(changes as bigint, 'change')}, once for each version of the lake`,
  attribution: ({ texts, metadata }) =>
    `The result has data of open-data sources. Pass ${countOf((texts as string[]).length, 'credit')} on with it${metadata === undefined ? `: ${(texts as string[]).join(' · ')}` : `; see ${metadata}`}`,
  'spreads left out': ({ count }) =>
    `${countOf(count as bigint, 'spread')} left out, because prices contradict each other or too few can be trusted; --grade C shows them`,
};

const tryAgain = (waitMs: unknown, attempt: unknown) =>
  `trying again in ${formatSeconds(Number(waitMs) / 1000)} (attempt ${Number(attempt) + 1})`;

/** Undefined for an event that has no sentence. */
export const describeEvent = (event: string, facts: Facts): string | undefined => SENTENCES[event]?.(facts);
