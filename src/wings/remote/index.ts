import type { Wing } from '../wing.js';
import { withRemote } from './remote.js';

export { type Cache, type CachedLake, readRemote } from './cached-lake.js';
export { readAnyNote, readHolder, readNote } from './lease.js';
export { readPublished } from './read-published.js';
export { openStore, withRemote } from './remote.js';

export const remote: Wing = { holdStore: withRemote };
