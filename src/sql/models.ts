// Generated from the headers of pipelines/models/*.sql by `npm run schemas`: change them there.

/** The relations that each model reads, and the types of its values. */
export const MODELS = {
  apply: {
    needs: [
      'base_items',
      'different_items',
      'missing_items',
      'pending_changes',
      'renamed_datasets',
      'renamed_sites',
      'taken_reads',
    ],
    values: { feed_skew: 'INTERVAL', feed_skew_is_known: 'BOOLEAN', run_id: 'VARCHAR', watermark: 'BIGINT' },
  },
  compare: {
    needs: ['exported_items', 'items'],
    values: { feed_skew: 'INTERVAL' },
  },
  compare_facets: {
    needs: ['counted_items', 'landed_facets'],
    values: { readable_datasets: 'VARCHAR[]' },
  },
  compare_products: {
    needs: ['landed_service_products', 'product_prices', 'products'],
    values: {},
  },
  diff: {
    needs: ['exported_items', 'history', 'items', 'mismatched_items'],
    values: { run_id: 'VARCHAR' },
  },
  early_changes: {
    needs: ['feed_changes', 'history', 'known_changes', 'typed_changes'],
    values: { run_id: 'VARCHAR' },
  },
  history: {
    needs: ['landed_changes'],
    values: { origin: 'VARCHAR', run_id: 'VARCHAR' },
  },
  items: {
    needs: ['landed_items'],
    values: { run_id: 'VARCHAR' },
  },
  judged_reads: {
    needs: [
      'base_items',
      'history',
      'needed_items',
      'pending_changes',
      'rejected_items',
      'rejected_rows',
      'reread_items',
      'stale_items',
    ],
    values: { feed_skew: 'INTERVAL', feed_skew_is_known: 'BOOLEAN', read_at: 'VARCHAR' },
  },
  judged_sample: {
    needs: ['compared_items', 'exported_items', 'history', 'items', 'missing_sample', 'stale_items'],
    values: { feed_cursor: 'BIGINT', feed_skew: 'INTERVAL', sample_watermark: 'VARCHAR' },
  },
  known_changes: {
    needs: ['history', 'typed_changes'],
    values: { held_up_to: 'BIGINT', run_id: 'VARCHAR' },
  },
  listing_evidence: {
    needs: ['listing_items'],
    values: { polled_since: 'VARCHAR' },
  },
  listing_items: {
    needs: ['exported_items', 'gone_reads', 'items', 'pending_changes'],
    values: { listing_datasets: 'VARCHAR[]' },
  },
  matches: {
    needs: ['items', 'user_matches'],
    values: { run_id: 'VARCHAR' },
  },
  mismatches: {
    needs: ['different_items', 'exported_items', 'history', 'new_changes', 'pending_changes', 'stale_items'],
    values: { added_datasets: 'VARCHAR[]', feed_cursor: 'BIGINT', feed_skew: 'INTERVAL', with_feed: 'BOOLEAN' },
  },
  missing: {
    needs: ['exported_items', 'items'],
    values: { read_at: 'VARCHAR', readable_datasets: 'VARCHAR[]', run_id: 'VARCHAR' },
  },
  needs: {
    needs: ['base_items', 'doubted_items', 'pending_changes', 'rejected_items', 'stale_items'],
    values: { feed_skew: 'INTERVAL', read_at: 'VARCHAR', run_id: 'VARCHAR', watermark: 'BIGINT' },
  },
  past_changes: {
    needs: ['feed_changes', 'history', 'items', 'typed_changes', 'early_changes'],
    values: { feed_cursor: 'BIGINT', run_id: 'VARCHAR', with_feed: 'BOOLEAN' },
  },
  product_prices: {
    needs: ['items'],
    values: { run_id: 'VARCHAR' },
  },
  products: {
    needs: ['items'],
    values: { run_id: 'VARCHAR' },
  },
  rejected_items: {
    needs: ['exported_items', 'feed_changes', 'items', 'rejected_rows'],
    values: { watermark: 'BIGINT' },
  },
  service_products: {
    needs: ['landed_products'],
    values: { read_at: 'VARCHAR', run_id: 'VARCHAR' },
  },
  shop_currencies: {
    needs: ['items'],
    values: { run_id: 'VARCHAR' },
  },
  sites: {
    needs: ['site_refs', 'sites'],
    values: { read_at: 'VARCHAR', run_id: 'VARCHAR' },
  },
  source_limits: {
    needs: ['items'],
    values: { intervals: 'BIGINT', read_at: 'VARCHAR' },
  },
  sources: {
    needs: ['probed_sites', 'seen_items', 'source_limits', 'sources'],
    values: {
      is_whole: 'BOOLEAN',
      keeps_limits: 'BOOLEAN',
      read_at: 'VARCHAR',
      run_id: 'VARCHAR',
      stale_after: 'BIGINT',
    },
  },
  superseded_diffs: {
    needs: ['diff_rows', 'new_changes'],
    values: { feed_skew: 'INTERVAL' },
  },
} as const;
