import type { Meaning } from './meaning.js';

const price = 'Price. Null where none is shown';
const previousPrice = 'Set when the price changed';
const changes = 'Name of a changed value → its old and its new value';
const categoryRef = 'Null while there is none';

const item: Meaning = {
  about: 'One listing, an offer of a product in a shop, as it is now. Readable by id also when no longer listed.',
  fields: {
    id: 'Item id',
    title: 'Listing title',
    brand: 'Brand as the shop names it',
    mpn: 'Manufacturer part number',
    gtin: 'EAN, UPC or ISBN-13 of 8, 13 or 14 digits. Null when the shop does not name it',
    price: 'Null when the shop shows none',
    previousPrice: 'Price before the last price change. Null if it never changed',
    priceChangedAt: 'When the price last changed',
    currency: 'ISO 4217 code',
    url: "The item's page in the shop",
    image: "The shop's product image, if any",
    attributes: 'Further values of the shop (stock, shipping, ratings and so on), by name, of any type',
    category: categoryRef,
    datasets: "Names of the caller's datasets that the item is in",
    site: 'The website',
    source: 'The source it was read from',
    firstSeenAt: 'First time seen',
    lastSeenAt: 'Last time a scrape found it',
    lastChangedAt: 'Last time a value changed. Usable with `changedSince`',
    removedAt: 'When the shop stopped listing it. Null while listed',
  },
};

const productFields = {
  id: 'Its GTIN (digits), else its brand-part-number key',
  title: 'Title',
  brand: 'Brand',
  mpn: 'Manufacturer part number',
  gtin: 'EAN, UPC or ISBN-13',
  category: categoryRef,
  offers: 'Offers (items) of it that the caller can see',
  shops: 'Different websites selling it',
  prices: 'Price range per currency',
};

const page = (content: string): Meaning => ({
  about: `A page of ${content}.`,
  fields: {
    content: 'Results of the page',
    page: 'This page, from 0',
    size: 'Results per page',
    totalElements: 'All results',
    totalPages: 'Pages in all',
  },
});

/** Section 2, resources of `/items`, `/export`, `/changes` and `/products`. */
export const LISTING_MEANINGS = {
  Item: item,
  CategoryRef: {
    about: 'The category of an item or a product.',
    fields: {
      name: 'Category name',
      path: 'Path of names with a separator, parent to child',
      slug: 'Slug, used as the `category` filter',
      source: 'Who chose the category: AI, or a person',
    },
  },
  SiteRef: {
    about: 'A website.',
    fields: {
      id: 'Website id',
      name: 'Website name',
      host: 'Website host name',
      attribution:
        'Licence and credit text of an open-data source, to be passed on with its data. Null for other sources',
    },
  },
  Source: {
    about: 'A source: one listing of one website.',
    fields: { modelId: 'Source id', name: 'Source name' },
  },
  Change: {
    about: 'An entry of the change feed.',
    fields: {
      id: 'Increasing. It is the cursor',
      kind: 'What happened',
      observedAt: 'When observed',
      price,
      previousPrice,
      changes,
      item: "Null if the item is gone from the caller's data meanwhile",
    },
  },
  ChangeItem: {
    about: 'What a change says about its item.',
    fields: {
      id: 'Item id',
      title: 'Listing title',
      url: 'Page in the shop',
      currency: 'ISO 4217 code',
      site: 'Website',
    },
  },
  ChangePage: {
    about: 'A page of the change feed.',
    fields: {
      changes: 'The entries',
      hasMore: 'More changes are waiting now: ask again at once',
      nextCursor: 'To continue: `after` for `/changes`, `before` for `/changes/recent`',
    },
  },
  HistoryEntry: {
    about: 'A change of one item.',
    fields: {
      id: 'Id of the change',
      kind: 'What happened',
      observedAt: 'When observed',
      price,
      previousPrice,
      changes,
    },
  },
  Product: {
    about: 'The same product across shops, matched by GTIN, else by brand and part number.',
    fields: productFields,
  },
  PriceRange: {
    about: 'The prices of a product in one currency.',
    fields: { currency: 'ISO 4217 code', min: 'Lowest price', max: 'Highest price', offers: 'Offers in this currency' },
  },
  ProductDetail: {
    about: 'A product and its offers.',
    fields: { product: 'The product', offers: 'All visible offers, cheapest first' },
  },
  PageDtoItem: page('items'),
  PageDtoProduct: page('products'),
} as const satisfies Record<string, Meaning>;
