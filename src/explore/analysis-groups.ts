/** A heading in the menu of analyses, worded as a question, and the analyses that answer it. */
export interface AnalysisGroup {
  question: string;
  /** Menu titles in plain language, keyed by the name of the analysis. */
  titles: Readonly<Record<string, string>>;
}

export const ANALYSIS_GROUPS: readonly AnalysisGroup[] = [
  {
    question: 'What moved?',
    titles: {
      movers: 'Prices that moved',
      spread_moves: 'Spreads that opened or closed',
      stock_moves: 'What ran out of stock, and what came back',
      changes_by_day: 'Changes by day',
      dynamics: 'How often prices change, and by how much',
      product_changes: 'Every change of one product',
    },
  },
  {
    question: 'Who leads?',
    titles: {
      cut_leaders: 'Shops that lead price cuts',
      price_leaders: 'Shops that move first, and those that follow',
      cheapest_days: 'Shops that were the cheapest most often',
      shop_index_by_category: 'Shops against the market',
      shop_overlap: 'Shops that compete with one another',
      persistence: 'Whether cheap shops stay cheap',
    },
  },
  {
    question: 'Is it honest?',
    titles: {
      reductions: 'Announced reductions, honest or not',
      prior_price: 'Price cuts and the lowest price before them',
      sales: 'Sales that ended, and cuts that lasted',
      lows_highs: 'Whether today’s price is low',
    },
  },
  {
    question: 'How wide are spreads?',
    titles: {
      widest_spreads: 'The widest spreads',
      daily_spreads: 'Spreads day by day',
      spread_by_category: 'Spreads by category',
      spread_by_day: 'The usual spread by day',
      spread_summary: 'Spreads in figures',
      dispersion: 'How much prices differ between shops',
      law_of_one_price: 'The same product in different currencies',
      offers: 'The offers of one product',
    },
  },
  {
    question: 'How available is it?',
    titles: {
      availability: 'Times without stock',
      assortment: 'What shops add to and remove from their range',
      assortment_gaps: 'Products that others sell and you don’t',
      listing_lifetimes: 'How long listings last',
      successors: 'New listings that may continue an ended one',
    },
  },
  {
    question: 'How did the price level move?',
    titles: {
      price_index: 'Price index',
      weighted_index: 'Price index with your weights',
      index_contributions: 'What each group adds to the price level',
      index_interval: 'How sure an index is',
    },
  },
  {
    question: 'How good is the copy?',
    titles: {
      source_freshness: 'How fresh the sources are',
      match_candidates: 'Products that may be the same',
    },
  },
];

/** Analyses that the menu leaves out, because pages show their rows or because they only help to set up a pipeline. */
export const UNLISTED_ANALYSES: readonly string[] = [
  ...['find_products', 'offer_prices', 'price_spread', 'product_offers', 'product_spells', 'spread_histogram'],
  ...['attribute_coverage', 'attribute_names', 'attribute_proposals'],
];

/** Returns the plain-language title of an analysis, or undefined if the analysis is not in the menu. */
export function findTitle(analysis: string): string | undefined {
  return ANALYSIS_GROUPS.map(({ titles }) => titles[analysis]).find((title) => title !== undefined);
}
