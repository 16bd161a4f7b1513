/** The steps of a run, in order, by the names that folders, progress, logs, the lake's memory and the docs have for them. */
export const RUN_STEPS = ['open', 'plan', 'land', 'apply', 'derive', 'prove', 'publish', 'compact'] as const;
export type RunStep = (typeof RUN_STEPS)[number];
