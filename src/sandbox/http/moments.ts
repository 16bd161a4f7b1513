import { fraction } from '../catalogue/shops.js';
import { MAX_LAG } from '../readings/registry.js';
import type { Moment } from '../world/past-sql.js';
import { feedEnd, type Service } from './caller.js';

const answered = new WeakMap<Service, number>();

/** As of when an answer shows the world: as it is now, unless a reading lets answers of this kind lag behind the feed. */
export function chooseMoment(service: Service, kind: 'lists' | 'exports' | 'facets' | 'products' | 'items'): Moment {
  const { readings, world } = service;
  const [lag, replicas] = [readings.get(`lag.${kind}`), readings.get('replicas')];
  if (lag + replicas === 0) return null;
  const answers = (answered.get(service) ?? 0) + 1;
  answered.set(service, answers);
  const behind = Math.min(MAX_LAG, lag + replicas * fraction(world.facts.seed, answers, 'replica'));
  return Math.max(world.keepPast(), Math.floor(feedEnd(service) - behind * 1e6));
}
