import { onTestFinished } from 'vitest';
import { makeRemoteWorld, type RemoteWorld } from './machines.js';
import { type MemoryStore, makeMemoryStore } from './memory-store.js';

/** A remote in memory and machines that share it; all gone after the test. */
export async function openRemoteWorld(): Promise<RemoteWorld<MemoryStore>> {
  const world = await makeRemoteWorld(makeMemoryStore());
  onTestFinished(world.close);
  return world;
}
