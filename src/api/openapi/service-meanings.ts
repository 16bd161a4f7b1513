import type { Meaning } from './meaning.js';

const facetFields = {
  id: 'Id',
  name: 'Name',
  slug: 'Slug, used as the `category` filter',
  path: 'Path of names, parent to child',
  parentId: 'Null for a top category',
  code: 'ISO 4217 code',
  host: 'Website host name',
  items: 'Items listed now',
};

const error = {
  status: 'HTTP status',
  error: 'Status text',
  message: 'Says what is wrong; for 400, which parameter',
  docsUrl: 'URL of a help page about this error',
};

/** Sections 2, 6 and 7: account, filter values, events and errors. */
export const SERVICE_MEANINGS = {
  Dataset: {
    about: 'A set of shop listings on one topic.',
    fields: {
      id: 'Use as `dataset` filter elsewhere',
      name: 'Name',
      description: 'Description',
      items: 'Items listed now',
      sites: 'Websites the items come from',
      models: 'Number of sources',
      healthyModels: 'Sources collecting without problems. The others are being repaired',
      newestScrapeAt: 'When a source of the dataset was last read. Null before the first read',
      oldestScrapeAt: 'When the source read longest ago was read',
    },
  },
  Facets: {
    about: 'Filter values with counts of the items listed now.',
    fields: { categories: 'Categories', currencies: 'Currencies', sites: 'Websites' },
  },
  FacetCategory: { about: 'A category; its count includes subcategories.', fields: facetFields },
  FacetCurrency: { about: 'A currency.', fields: facetFields },
  FacetSite: { about: 'A website.', fields: facetFields },
  PlanInfo: {
    about: "The caller's plan, limits and this month's use. The plan in effect is Free once a trial has ended.",
    fields: {
      plan: 'Plan code',
      name: 'Plan display name',
      status: 'Null without a subscription',
      trialEndsAt: 'When the trial ends (status `TRIALING`)',
      limits: 'Limits by name. A null value means unlimited',
      lockedDatasets: "The caller's datasets beyond what the plan includes. They answer 402",
      upgradeUrl: 'URL of the plans and prices',
      usage: "This month's use. Null for an operator's token",
    },
  },
  PlanLimits: {
    about: 'Limits by name. A null value means unlimited.',
    fields: {
      datasets: 'Number of datasets readable',
      apiCallsPerMonth: 'Calls per calendar month (UTC)',
      ratePerSecond: 'Requests per second',
      exportRowsPerMonth: 'Export rows per calendar month (UTC)',
      historyDays: 'How far back item history and the feed from `after=0` reach',
      changeFeed: 'Change feed access',
      webhooks: 'Webhook delivery',
      delayHours: 'Meaning: not shown',
    },
  },
  PlanUsage: {
    about: 'Counters of the calendar month in UTC, for calls made with API keys or tokens.',
    fields: {
      apiCalls: 'Calls made',
      exportRows: 'Rows exported',
      resetsAt: 'The first of next month, 00:00 UTC, when both counters start over',
    },
  },
  WebhookEvent: {
    about: 'What is POSTed to the customer’s endpoint.',
    fields: {
      id: 'Event id. The same on every attempt and when sent again: receivers drop repeats by it',
      type: 'What is sent',
      createdAt: 'When the event was made',
      cursor: 'Id of the last change in the event; `/changes?after=` continues from it. Null for a ping',
      changes: 'The next changes, in order, up to 100, as the feed lists them. None for a ping',
    },
  },
  Error: { about: 'The body of every error answer.', fields: error },
  LimitError: {
    about: 'The body of an answer 402 or 429.',
    fields: {
      ...error,
      limit: 'Which limit refuses',
      allowed: "The limit's value in the caller's plan",
      plan: 'Plan code',
      upgradeUrl: 'URL of the plans and prices',
    },
  },
} as const satisfies Record<string, Meaning>;
