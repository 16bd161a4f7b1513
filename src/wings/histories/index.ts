import type { Wing } from '../wing.js';
import { estimateHistories } from './estimate-histories.js';
import { hasBackfill, removeBackfill, takeBackfill } from './land-histories.js';
import { surroundRun } from './surround-run.js';

export { type HistorySelection, landChosenHistories } from './land-chosen-histories.js';

/** Downloads the histories of all items or of chosen items, with one call for each item. */
export const histories: Wing = {
  sources: [
    {
      land: (landing, { root }) => takeBackfill(landing, root),
      settle: (landing, { lake: { root }, memory }) => removeBackfill(landing, root, memory),
      hasWaiting: ({ root }) => hasBackfill(root),
      estimate: estimateHistories,
    },
  ],
  surround: surroundRun,
};
