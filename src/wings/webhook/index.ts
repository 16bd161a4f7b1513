import type { Wing } from '../wing.js';
import { listEvents, removeEvents } from './event-files.js';
import { landEvents, listLandedEvents } from './land-events.js';

export { countFiles, listEvents } from './event-files.js';
export { EventStore } from './event-store.js';
export { HEALTH_PATH, startReceiver } from './receiver.js';
export { writeSignature } from './signature.js';
export { SigningSecrets } from './signing-secrets.js';
export { type RunEnd, SyncTrigger } from './sync-trigger.js';

/** Makes the next run apply the changes that the webhook receiver has saved. */
export const webhook: Wing = {
  sources: [
    {
      land: (landing, { root }, io) => landEvents(landing, () => listEvents(root), io),
      settle: (landing, { lake: { root }, io }) => removeEvents(root, listLandedEvents(landing), landing.runId, io),
      hasWaiting: async ({ root }) => (await listEvents(root)).length > 0,
    },
  ],
};
