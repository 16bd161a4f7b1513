import type { Deriver } from '../../run/open/wings.js';
import type { Wing } from '../wing.js';
import { stageDays } from './days.js';
import { settleServiceTime } from './service-time.js';

const days: Deriver = {
  tables: ['price_spread_daily'],
  async derive(staging, next, { merge, moment }) {
    const { version } = staging.found.tables.items;
    const seen = { history: await next.rows('history'), items: await next.rows('items') };
    const now = await settleServiceTime(staging.graph, seen, moment);
    return [await stageDays(staging, next, version < 0n ? undefined : merge.before, now)];
  },
};

export const daily: Wing = { derivers: [days] };
