import type { Database } from '../../sql/connection.js';
import { trimZeros } from '../output/money.js';
import { type Notice, writeNotice } from './notice.js';
import { MAX_ACTIVE } from './notice-memory.js';

/** Each shop below a lowest allowed price of table `watched`, by the prices that count: the `alarms` of watch_list.sql. */
const BELOW = `
WITH below AS (
  SELECT line, watched.product, product_id, watched.title, currency, lowest, offers.site_id,
    min(offers.price) AS price, arg_min(offers.item_id, (offers.price, offers.item_id)) AS item_id
  FROM watched
  JOIN offers USING (product_id, currency)
  WHERE alarms > 0 AND is_counted AND offers.price > 0 AND offers.price < lowest
    AND offers.site_id IS DISTINCT FROM $1
  GROUP BY ALL
)
SELECT below.product, below.product_id, below.title, below.currency, below.lowest::VARCHAR AS lowest,
  below.price::VARCHAR AS price, round(100 * (1 - below.price::DOUBLE / below.lowest::DOUBLE), 1) AS percent,
  coalesce(names.name, below.site_id::VARCHAR) AS shop, below.site_id::VARCHAR AS site_id, names.attribution, links.url
FROM below
LEFT JOIN (SELECT site_id, name, attribution FROM sites WHERE is_current) AS names USING (site_id)
LEFT JOIN (SELECT item_id, url FROM items WHERE item_id IN (SELECT item_id FROM below)) AS links USING (item_id)
ORDER BY line, below.price, below.site_id LIMIT ${MAX_ACTIVE}`;

/** `ownSite` is the user's own shop, which is left out. */
export async function findPriceAlarms(db: Database, ownSite: bigint | undefined, now: Date): Promise<Notice[]> {
  const rows = await db.rows(BELOW, [ownSite ?? null]);
  return rows.map((row) => {
    const text = (name: string) => (row[name] == null ? null : String(row[name]));
    const [price, lowest] = [trimZeros(text('price') ?? ''), trimZeros(text('lowest') ?? '')];
    const [product, currency, shop, siteId] = [text('product'), text('currency'), text('shop'), text('site_id')];
    const url = findLink(text('url'));
    const name = text('title') === null ? product : `${text('title')} (${product})`;
    const link = url === null ? '' : ` ${url}`;
    return writeNotice({
      // A new price of the same shop is news.
      key: `price ${currency} ${siteId} ${price} ${text('product_id')}`,
      kind: 'price',
      at: now.toISOString(),
      text: `${shop} sells ${name} for ${price} ${currency}: ${Number(row.percent)}% below your lowest allowed price of ${lowest}.${link}`,
      facts: {
        product,
        productId: text('product_id'),
        title: text('title'),
        currency,
        price,
        lowest,
        shop,
        siteId,
        url,
      },
      credits: row.attribution == null ? [] : [String(row.attribution).slice(0, 1000)],
    });
  });
}

/** Addresses come from shops: only those that a person may follow. */
function findLink(url: string | null): string | null {
  return url !== null && /^https?:\/\/[^\s<>"]{1,500}$/iu.test(url) ? url : null;
}
