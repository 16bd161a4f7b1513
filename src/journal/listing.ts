import type { Dataset, EntryOf, Part, RunEntry } from './run-entry.js';

/** The planned reads of pages that show which items of a dataset are listed, and the progress of these reads. */
export interface ListingPlan extends Pick<EntryOf<'listing.plan'>, 'news' | 'readings' | 'limit' | 'wanted'> {
  /** The finished reads, oldest first. */
  ended: readonly Pick<EntryOf<'listing.read'>, 'files' | 'total'>[];
  files: readonly string[];
  /** True if changed items were polled again for this plan. */
  isPolled: boolean;
}

/** The progress in finding out which items of a dataset are listed. The steps are count, plan, read and count again. */
export interface ListingProgress {
  /** The number of requests for the service's counts. `counts` has the last response. */
  timesCounted: number;
  counts: Pick<EntryOf<'listing.counts'>, 'answer' | 'returnsRemovals'> | undefined;
  plans: readonly ListingPlan[];
  step: 'counted' | 'planned' | 'acted';
  /** The files and the number of pages of the read that is in progress. */
  open: { files: readonly string[]; pages: number };
}

export interface Listing {
  parts: ReadonlyMap<Dataset, ListingProgress>;
  gone: readonly bigint[];
  /** The maximum number of items whose listing state is unknown, and the reason; undefined until it is determined. */
  done: Pick<EntryOf<'listing.done'>, 'unknown' | 'reason'> | undefined;
}

const NOTHING_OPEN = { files: [], pages: 0 };
const NOT_BEGUN: ListingProgress = {
  ...{ timesCounted: 0, counts: undefined, plans: [], step: 'counted', open: NOTHING_OPEN },
};

export const LISTING: Part<Listing> = { start: { parts: new Map(), gone: [], done: undefined }, step: foldListing };

export function findListing({ parts }: Listing, dataset: Dataset): ListingProgress {
  return parts.get(dataset) ?? NOT_BEGUN;
}

function foldListing(listing: Listing, entry: RunEntry): Listing {
  switch (entry.type) {
    case 'listing.gone':
      return { ...listing, gone: [...listing.gone, entry.itemId] };
    case 'listing.done':
      return { ...listing, done: entry };
    case 'poll.round':
      return listing.parts.has(entry.dataset) ? foldPartOf(listing, entry) : listing;
    case 'listing.counts':
    case 'listing.plan':
    case 'listing.page':
    case 'listing.read':
    case 'listing.acted':
      return foldPartOf(listing, entry);
    default:
      return listing;
  }
}

type PartEntry = EntryOf<`listing.${'counts' | 'plan' | 'page' | 'read' | 'acted'}` | 'poll.round'>;

function foldPartOf(listing: Listing, entry: PartEntry): Listing {
  const part = foldPart(findListing(listing, entry.dataset), entry);
  return { ...listing, parts: new Map(listing.parts).set(entry.dataset, part) };
}

function foldPart(part: ListingProgress, entry: PartEntry): ListingProgress {
  switch (entry.type) {
    case 'listing.counts':
      return { ...part, timesCounted: part.timesCounted + 1, counts: entry, step: 'counted' };
    case 'listing.plan': {
      const { news, readings, limit, wanted } = entry;
      const plan = { news, readings, limit, wanted, ended: [], files: [], isPolled: false };
      return { ...part, plans: [...part.plans, plan], step: 'planned', open: NOTHING_OPEN };
    }
    case 'listing.page': {
      const { files, pages } = part.open;
      const plans = part.plans.map((plan) => ({ ...plan, files: addName(plan.files, entry.file) }));
      return { ...part, plans, open: { files: addName(files, entry.file), pages: pages + 1 } };
    }
    case 'listing.read': {
      const { files, total } = entry;
      const plans = changeLast(part.plans, ({ ended }) => ({ ended: [...ended, { files, total }] }));
      return { ...part, plans, open: NOTHING_OPEN };
    }
    case 'listing.acted':
      return { ...part, step: 'acted' };
    case 'poll.round':
      return { ...part, plans: changeLast(part.plans, () => ({ isPolled: true })) };
  }
}

function changeLast(
  plans: readonly ListingPlan[],
  change: (plan: ListingPlan) => Partial<ListingPlan>,
): readonly ListingPlan[] {
  const last = plans.at(-1);
  return last === undefined ? plans : [...plans.slice(0, -1), { ...last, ...change(last) }];
}

const addName = (names: readonly string[], name: string) => (names.includes(name) ? names : [...names, name]);

/** Returns the plan made after the service's last counts were read, or undefined if there is none yet. */
export function findListingPlan({ step, plans }: ListingProgress): ListingPlan | undefined {
  return step === 'counted' ? undefined : plans.at(-1);
}
