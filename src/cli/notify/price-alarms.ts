import type { Database } from '../../sql/connection.js';
import { trimZeros } from '../output/money.js';
import { type Notice, writeNotice } from './notice.js';
import { MAX_ACTIVE } from './notice-memory.js';

/** Selects alarms. The `alarms` table is created by watch_alarms.sql. */
const ALARMS = `
SELECT product, product_id, found.title, found.currency, lowest::VARCHAR AS lowest,
  alarms.price::VARCHAR AS price, round(100 * (1 - alarms.price::DOUBLE / lowest::DOUBLE), 1) AS percent, doubt,
  coalesce(names.name, site_id::VARCHAR) AS shop, site_id::VARCHAR AS site_id, names.attribution, links.url
FROM (SELECT * FROM alarms WHERE doubt IS NULL OR $1) AS alarms
JOIN found USING (line)
LEFT JOIN (SELECT site_id, name, attribution FROM sites WHERE is_current) AS names USING (site_id)
LEFT JOIN (SELECT item_id, url FROM items WHERE item_id IN (SELECT item_id FROM alarms)) AS links USING (item_id)
ORDER BY line, alarms.price, site_id LIMIT ${MAX_ACTIVE}`;

/** Returns a notice for each certain alarm. With `unsure`, also returns notices for uncertain alarms. */
export async function findPriceAlarms(db: Database, unsure: boolean, now: Date): Promise<Notice[]> {
  const rows = await db.rows(ALARMS, [unsure]);
  return rows.map((row) => {
    const text = (name: string) => (row[name] == null ? null : String(row[name]));
    const [price, lowest] = [trimZeros(text('price') ?? ''), trimZeros(text('lowest') ?? '')];
    const [product, currency, shop, siteId] = [text('product'), text('currency'), text('shop'), text('site_id')];
    const [url, doubt] = [findLink(text('url')), text('doubt')];
    const name = text('title') === null ? product : `${text('title')} (${product})`;
    const below = `${shop} sells ${name} for ${price} ${currency}, ${Number(row.percent)}% below your lowest allowed price of ${lowest}`;
    return writeNotice({
      // The key contains the price, so that a new notice is sent if the shop changes the price.
      key: `price ${currency} ${siteId} ${price} ${text('product_id')}`,
      kind: 'price',
      at: now.toISOString(),
      text: `${below}.${doubt === null ? '' : ` Unsure: ${doubt}.`}${url === null ? '' : ` ${url}`}`,
      facts: {
        ...{ product, productId: text('product_id'), title: text('title'), currency, price, lowest, shop, siteId, url },
        alarm: doubt === null ? 'sure' : 'unsure',
        unsureBecause: doubt,
      },
      credits: row.attribution == null ? [] : [String(row.attribution).slice(0, 1000)],
    });
  });
}

/**
 * Returns an address if it is an http or https link; null otherwise. Addresses come from shops, so they aren't trusted.
 */
function findLink(url: string | null): string | null {
  return url !== null && /^https?:\/\/[^\s<>"]{1,500}$/iu.test(url) ? url : null;
}
