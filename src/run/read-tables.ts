import { TABLE_NAMES, type TableName } from '../tables/table.js';

/** What a run reads before it knows whether there is news. */
export const FACT_TABLES: readonly TableName[] = ['runs', 'datasets'];

/** Runs add to them, or replace them, and read none of their rows; of the days only those that late changes are of. */
const SELDOM_READ: readonly TableName[] = ['check_results', 'price_spread_daily', 'rejects', 'service_products'];

/** What a run with news reads; its checks may read more. */
export const NEWS_TABLES: readonly TableName[] = TABLE_NAMES.filter((table) => !SELDOM_READ.includes(table));
