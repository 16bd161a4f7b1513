/**
 * The API contract: a zod schema for each resource of the API document. Most resources are from API §2; comments cite
 * other sections. The account's resources are in account-contract.ts. The OpenAPI document is generated from the
 * schemas' metadata.
 */
import * as z from 'zod';
import { dateTime, decimal, int32, int64 } from './wire-types.js';

/** The maximum page size of `/items` (API §4). */
export const ITEMS_A_PAGE = 500;

const string = z.string();
const text = string.nullable();
const price = decimal.nullable();
const time = dateTime.nullable();
const currencyCode = string.describe('ISO 4217 code');

export const categoryRef = z
  .looseObject({
    name: string.describe('Category name'),
    path: string.describe('Path of names with a separator, parent to child'),
    slug: string.describe('Slug, used as the `category` filter'),
    source: z.enum(['AI', 'MANUAL']).describe('Who chose the category: AI, or a person'),
  })
  .meta({ id: 'CategoryRef', description: 'The category of an item or a product.' });
const category = categoryRef.nullable().describe('Null if there is none');

const CREDIT = 'License and credit text of an open-data source, to be passed on with its data. Null for other sources';

export const siteRef = z
  .looseObject({
    id: int64.describe('Website id'),
    name: string.describe('Website name'),
    host: string.describe('Website host name'),
    attribution: text.describe(CREDIT),
  })
  .meta({ id: 'SiteRef', description: 'A website.' });

export const source = z
  .looseObject({ modelId: int64.describe('Source id'), name: string.describe('Source name') })
  .meta({ id: 'Source', description: 'A source: one listing of one website.' });

export const item = z
  .looseObject({
    id: int64.describe('Item id'),
    title: text.describe('Listing title'),
    brand: text.describe('Brand as the shop gives it'),
    mpn: text.describe('Manufacturer part number'),
    gtin: text.describe("EAN, UPC or ISBN-13 of 8, 13 or 14 digits. Null if the shop doesn't give it"),
    price: price.describe('Null if the shop shows none'),
    previousPrice: price.describe('Price before the last price change. Null if it never changed'),
    priceChangedAt: time.describe('When the price last changed'),
    currency: text.describe('ISO 4217 code'),
    url: text.describe("The item's page in the shop"),
    image: text.describe("The shop's product image, if any"),
    attributes: z
      .record(z.string(), z.unknown())
      .describe('Further values of the shop (stock, shipping, ratings and so on), by name, of any type'),
    category,
    datasets: z.array(z.string()).describe("Names of the caller's datasets that the item is in"),
    site: siteRef.describe('The website'),
    source: source.describe('The source it was read from'),
    firstSeenAt: dateTime.describe('First time seen'),
    lastSeenAt: dateTime.describe('Last time a scrape found it'),
    lastChangedAt: dateTime.describe('Last time a value changed. Usable with `changedSince`'),
    removedAt: time.describe('When the shop stopped listing it. Null while listed'),
  })
  .meta({
    id: 'Item',
    description:
      "A listing: one shop's offer of a product, in its current state. Still readable by id when no longer listed.",
  });

export const dataset = z
  .looseObject({
    id: int64.describe('The value of the filter `dataset` of other endpoints'),
    name: string.describe('Name'),
    description: text.describe('Description'),
    items: int64.describe('Items listed now'),
    sites: int32.describe('Websites the items come from'),
    models: int32.describe('Number of sources'),
    healthyModels: int32.describe('Sources collecting without problems. The others are being repaired'),
    newestScrapeAt: time.describe('When a source of the dataset was last read. Null before the first read'),
    oldestScrapeAt: time.describe('When the source read longest ago was read'),
  })
  .meta({ id: 'Dataset', description: 'A set of shop listings on one topic.' });
export type Dataset = z.infer<typeof dataset>;

export const CHANGE_KINDS = ['NEW', 'CHANGED', 'REMOVED', 'RELISTED'] as const;
const oldAndNew = z.tuple([z.unknown().describe('Old value'), z.unknown().describe('New value')]);

export const changeItem = z
  .looseObject({
    id: int64.describe('Item id'),
    title: string.describe('Listing title'),
    url: text.describe('Page in the shop'),
    currency: text.describe('ISO 4217 code'),
    site: siteRef.describe('Website'),
  })
  .meta({ id: 'ChangeItem', description: 'What a change says about its item.' });

export const historyEntry = z
  .looseObject({
    id: int64.describe('Id of the change'),
    kind: z.enum(CHANGE_KINDS).describe('What happened'),
    observedAt: dateTime.describe('When observed'),
    price: price.describe('Price. Null if none is shown'),
    previousPrice: price.describe('Set when the price changed'),
    changes: z.record(z.string(), oldAndNew).describe('Name of a changed value → its old and its new value'),
  })
  .meta({ id: 'HistoryEntry', description: 'A change of one item.' });

export const change = historyEntry
  .extend({
    id: int64.describe('Increasing. It is the cursor'),
    item: changeItem.nullable().describe("Null if the item has since left the caller's data"),
  })
  .meta({ id: 'Change', description: 'An entry of the change feed.' });

export const changePage = z
  .looseObject({
    changes: z.array(change).describe('The entries'),
    hasMore: z.boolean().describe('More changes are waiting: request the next page at once'),
    nextCursor: int64.describe('To continue: `after` for `/changes`, `before` for `/changes/recent`'),
  })
  .meta({ id: 'ChangePage', description: 'A page of the change feed.' });

const facetId = int64.describe('Id');
const facetName = string.describe('Name');
const listed = int64.describe('Items listed now');

export const facetCategory = z
  .looseObject({
    id: facetId,
    name: facetName,
    slug: string.describe('Slug, used as the `category` filter'),
    path: string.describe('Path of names, parent to child'),
    parentId: int64.nullable().describe('Null for a top category'),
    items: listed,
  })
  .meta({ id: 'FacetCategory', description: 'A category; its count includes subcategories.' });
export const facetCurrency = z
  .looseObject({ code: currencyCode, items: listed })
  .meta({ id: 'FacetCurrency', description: 'A currency.' });
export const facetSite = z
  .looseObject({ id: facetId, name: facetName, host: string.describe('Website host name'), items: listed })
  .meta({ id: 'FacetSite', description: 'A website.' });
export const facets = z
  .looseObject({
    categories: z.array(facetCategory).describe('Categories'),
    currencies: z.array(facetCurrency).describe('Currencies'),
    sites: z.array(facetSite).describe('Websites'),
  })
  .meta({ id: 'Facets', description: 'Filter values with counts of the items listed now.' });

export const priceRange = z
  .looseObject({
    currency: currencyCode,
    min: decimal.describe('Lowest price'),
    max: decimal.describe('Highest price'),
    offers: int64.describe('Offers in this currency'),
  })
  .meta({ id: 'PriceRange', description: 'The prices of a product in one currency.' });

export const product = z
  .looseObject({
    id: string.describe('Its GTIN (digits), else its brand-part-number key'),
    title: text.describe('Title'),
    brand: text.describe('Brand'),
    mpn: text.describe('Manufacturer part number'),
    gtin: text.describe('EAN, UPC or ISBN-13'),
    category,
    offers: int64.describe('Offers (items) of it that the caller can see'),
    shops: int64.describe('Different websites selling it'),
    prices: z.array(priceRange).describe('Price range per currency'),
  })
  .meta({
    id: 'Product',
    description: 'The same product across shops, matched by GTIN, else by brand and part number.',
  });

export const productDetail = z
  .looseObject({
    product: product.describe('The product'),
    offers: z.array(item).describe('All visible offers, cheapest first'),
  })
  .meta({ id: 'ProductDetail', description: 'A product and its offers.' });

const pageOf = <T extends z.ZodType>(result: T) =>
  z.looseObject({
    content: z.array(result).describe('Results of the page'),
    page: int32.describe('This page, from 0'),
    size: int32.describe('Results per page'),
    totalElements: int64.describe('All results'),
    totalPages: int32.describe('Total number of pages'),
  });
export const itemPage = pageOf(item).meta({ id: 'PageDtoItem', description: 'A page of items.' });
export const productPage = pageOf(product).meta({ id: 'PageDtoProduct', description: 'A page of products.' });
