import * as z from 'zod';
import { LIMIT_NAMES } from '../../api/account-contract.js';
import { PricelakeError } from '../../io/errors.js';
import { fraction } from '../catalog/shops.js';
import { FAULT_ENDPOINTS, FAULT_KINDS, type FaultEndpoint, type FaultKind, factsOf } from './fault-kinds.js';

const share = z.coerce.number().min(0).lt(1);
const atLeastOne = z.coerce.number().int().min(1);
const field = z.string().regex(/^[\w.-]+$/);
const none = z.literal('');

const ARGUMENTS = {
  drop: share,
  stall: share,
  html: z.coerce.number().int().min(500).max(599),
  '401': none,
  '402': z.enum(LIMIT_NAMES),
  '429': z.enum(LIMIT_NAMES),
  redirect: z.enum(['same', 'other']),
  rows: z.coerce
    .number()
    .int()
    .refine((rows) => rows !== 0),
  malformed: atLeastOne,
  duplicate: atLeastOne,
  unknown: field,
  missing: field,
  move: atLeastOne,
  'stale-cursor': none,
} satisfies Record<FaultKind, z.ZodType>;
type Arguments = typeof ARGUMENTS;

export type FaultEffect = { [K in FaultKind]: { kind: K; argument: z.output<Arguments[K]> } }[FaultKind];

/** The requests that a fault applies to: a range, counted from 1 since the fault was set, or a random share. */
type FaultTiming = { first: number; last: number } | { probability: number };

export interface Fault {
  /** The fault as the user wrote it. */
  text: string;
  endpoint: FaultEndpoint;
  effect: FaultEffect;
  timing: FaultTiming;
}

const SPEC = /^([a-z]+):([a-z0-9-]+)(?:=([^@]*))?(?:@(.+))?$/;

/** Parses `ENDPOINT:KIND[=ARGUMENT][@WHEN]`. If a part is invalid, the error lists the valid values. */
export const faultSpec = z.string().transform((text, ctx): Fault => {
  const refuse = (message: string): never => {
    ctx.addIssue({ code: 'custom', message: `fault '${text}': ${message}` });
    return z.NEVER;
  };
  const [, endpointName, kindName, argument, when] = SPEC.exec(text) ?? [];
  if (kindName === undefined) return refuse('expected ENDPOINT:KIND[=ARGUMENT][@WHEN], such as export:drop@1');
  const endpoint = FAULT_ENDPOINTS.find((one) => one === endpointName);
  if (endpoint === undefined)
    return refuse(`unknown endpoint '${endpointName}'; choose from ${FAULT_ENDPOINTS.join(', ')}`);
  const kind = FAULT_KINDS.find((one) => one === kindName);
  if (kind === undefined) return refuse(`unknown kind '${kindName}'; choose from ${FAULT_KINDS.join(', ')}`);
  const { only, says } = factsOf(kind);
  if (only?.includes(endpoint) === false) return refuse(`${kind} only works on ${only.join(' and ')}`);
  const effect = parseArgument(kind, argument);
  if (effect === null) return refuse(`'${argument}' is not a valid argument for ${kind} (${says})`);
  const timing = parseTiming(when);
  if (timing === null) return refuse(`'@${when}' does not look like @3, @3-5, @3- or @10%`);
  return { text, endpoint, effect, timing };
});

/** Parses faults. @throws PricelakeError `usage` for the first invalid fault */
export function parseFaults(specs: readonly string[]): Fault[] {
  const parsed = z.array(faultSpec).safeParse(specs);
  if (parsed.success) return parsed.data;
  throw new PricelakeError('usage', parsed.error.issues[0]?.message ?? 'no fault');
}

function parseArgument(kind: FaultKind, argument: string | undefined): FaultEffect | null {
  if (argument === '') return null;
  const parsed = ARGUMENTS[kind].safeParse(argument ?? factsOf(kind).byDefault);
  return parsed.success ? ({ kind, argument: parsed.data } as FaultEffect) : null;
}

/** Parses the requests to which a fault applies: `3`, `3-5`, `3-` or `10%`. Returns null if the text is invalid. */
function parseTiming(when: string | undefined): FaultTiming | null {
  if (when === undefined) return { first: 1, last: Number.POSITIVE_INFINITY };
  const percent = /^(\d{1,3}(?:\.\d+)?)%$/.exec(when)?.[1];
  if (percent !== undefined) return Number(percent) <= 100 ? { probability: Number(percent) / 100 } : null;
  const [, from, dash, to] = /^([1-9]\d{0,8})(-)?([1-9]\d{0,8})?$/.exec(when) ?? [];
  if (from === undefined || (to !== undefined && (dash === undefined || Number(to) < Number(from)))) return null;
  const last = dash === undefined ? Number(from) : Number(to ?? Number.POSITIVE_INFINITY);
  return { first: Number(from), last };
}

interface Armed {
  fault: Fault;
  requests: number;
  fired: number;
}

/** Decides which requests each fault applies to. The same seed always leads to the same decisions. */
export class FaultPlan {
  readonly #seed: number;
  #armed: Armed[] = [];

  constructor(seed: number, faults: readonly Fault[] = []) {
    this.#seed = seed;
    this.arm(faults);
  }

  /** Replaces the faults and resets their counters. */
  arm(faults: readonly Fault[]): void {
    this.#armed = faults.map((fault) => ({ fault, requests: 0, fired: 0 }));
  }

  get isEmpty(): boolean {
    return this.#armed.length === 0;
  }

  /** Counts a request, and returns the effects of the faults that apply to it. */
  take(endpoint: FaultEndpoint): FaultEffect[] {
    const hits: FaultEffect[] = [];
    for (const [index, armed] of this.#armed.entries()) {
      if (armed.fault.endpoint !== 'any' && armed.fault.endpoint !== endpoint) continue;
      armed.requests++;
      if (!this.#hits(armed, index)) continue;
      armed.fired++;
      hits.push(armed.fault.effect);
    }
    return hits;
  }

  #hits({ fault: { timing }, requests }: Armed, index: number): boolean {
    if ('probability' in timing) return fraction(this.#seed, requests, `fault ${index}`) < timing.probability;
    return requests >= timing.first && requests <= timing.last;
  }

  /** Lists each fault, with the number of requests to its endpoint and how often it was applied. */
  list(): { fault: string; requests: number; fired: number }[] {
    return this.#armed.map(({ fault, requests, fired }) => ({ fault: fault.text, requests, fired }));
  }
}
