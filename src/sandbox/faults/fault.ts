import { z } from 'zod';
import { LIMIT_NAMES } from '../../api/contract.js';
import { PricelakeError } from '../../errors.js';

/** The endpoints of section 4 by short names; `any` stands for all of them. */
export const FAULT_ENDPOINTS = [
  'any',
  'datasets',
  'facets',
  'items',
  'item',
  'history',
  'changes',
  'recent',
  'products',
  'product',
  'export',
  'plan',
] as const;
export type FaultEndpoint = (typeof FAULT_ENDPOINTS)[number];

const share = z.coerce.number().min(0).lt(1);
const atLeastOne = z.coerce.number().int().min(1);
const field = z.string().regex(/^[\w.-]+$/);

/** Each kind of fault: its argument, what holds without one, and what a client meets. */
const KINDS = {
  drop: { argument: share, byDefault: '0.5', says: 'the connection breaks after this share of the body' },
  stall: { argument: share, byDefault: '0.5', says: 'after this share of the body nothing more comes' },
  html: {
    argument: z.coerce.number().int().min(500).max(599),
    byDefault: '503',
    says: 'a proxy’s HTML page, this status',
  },
  '401': { argument: z.literal(''), byDefault: '', says: 'the key is revoked' },
  '402': { argument: z.enum(LIMIT_NAMES), byDefault: 'paymentOverdue', says: 'a limit error of this limit' },
  '429': { argument: z.enum(LIMIT_NAMES), byDefault: 'ratePerSecond', says: 'a limit error with Retry-After' },
  redirect: { argument: z.enum(['same', 'other']), byDefault: 'same', says: '307 to the same or an other host' },
  rows: {
    argument: z.coerce
      .number()
      .int()
      .refine((n) => n !== 0),
    byDefault: '1',
    says: 'X-Export-Rows is off by so many',
  },
  malformed: { argument: atLeastOne, byDefault: '1', says: 'this row, or a JSON answer, is cut short' },
  duplicate: { argument: atLeastOne, byDefault: '1', says: 'so many rows or entries come twice' },
  unknown: { argument: field, byDefault: 'novelty', says: 'rows and entries have a further field' },
  missing: { argument: field, byDefault: 'price', says: 'rows and entries lack this field' },
  move: {
    argument: atLeastOne,
    byDefault: '100',
    says: 'so many changes happen in the middle of an export, or before the answer',
  },
  'stale-cursor': {
    argument: z.literal(''),
    byDefault: '',
    says: 'more is waiting, but nextCursor stays where it was',
  },
} as const;
type Kinds = typeof KINDS;
export type FaultKind = keyof Kinds;
export const FAULT_KINDS = Object.keys(KINDS) as FaultKind[];

/** Kinds that make sense on some endpoints only. */
const ONLY_ON: Partial<Record<FaultKind, readonly FaultEndpoint[]>> = {
  rows: ['export'],
  'stale-cursor': ['changes', 'recent'],
};

/** A kind with its argument. */
export type FaultEffect = { [K in FaultKind]: { kind: K; argument: z.output<Kinds[K]['argument']> } }[FaultKind];

/** Which requests a fault hits: the first to the last, counted from 1 since it was armed, or each with a probability. */
export type FaultTiming = { first: number; last: number } | { probability: number };

export interface Fault {
  /** As it was written. */
  text: string;
  endpoint: FaultEndpoint;
  effect: FaultEffect;
  timing: FaultTiming;
}

const SPEC = /^([a-z]+):([a-z0-9-]+)(?:=([^@]*))?(?:@(.+))?$/;

/** `ENDPOINT:KIND[=ARGUMENT][@WHEN]` → Fault; an issue says what is allowed. */
export const faultSpec = z.string().transform((text, ctx): Fault => {
  const refuse = (message: string): never => {
    ctx.addIssue({ code: 'custom', message: `fault '${text}': ${message}` });
    return z.NEVER;
  };
  const [, endpointName, kindName, argument, when] = SPEC.exec(text) ?? [];
  if (kindName === undefined) return refuse('ENDPOINT:KIND[=ARGUMENT][@WHEN] is expected, such as export:drop@1');
  const endpoint = FAULT_ENDPOINTS.find((one) => one === endpointName);
  if (endpoint === undefined) return refuse(`no endpoint '${endpointName}'; there are ${FAULT_ENDPOINTS.join(', ')}`);
  const kind = FAULT_KINDS.find((one) => one === kindName);
  if (kind === undefined) return refuse(`no kind '${kindName}'; there are ${FAULT_KINDS.join(', ')}`);
  const allowed = ONLY_ON[kind];
  if (allowed !== undefined && !allowed.includes(endpoint))
    return refuse(`${kind} works on ${allowed.join(' and ')} only`);
  const effect = parseArgument(kind, argument);
  if (effect === null) return refuse(`'${argument}' is no argument of ${kind} (${KINDS[kind].says})`);
  const timing = parseTiming(when);
  if (timing === null) return refuse(`'@${when}' is none of @3, @3-5, @3- and @10%`);
  return { text, endpoint, effect, timing };
});

/** @throws PricelakeError `usage` that names the first spec which is none */
export function parseFaults(specs: readonly string[]): Fault[] {
  const parsed = z.array(faultSpec).safeParse(specs);
  if (parsed.success) return parsed.data;
  throw new PricelakeError('usage', parsed.error.issues[0]?.message ?? 'no fault');
}

function parseArgument(kind: FaultKind, argument: string | undefined): FaultEffect | null {
  const { argument: schema, byDefault } = KINDS[kind];
  if (argument === '') return null;
  const parsed = schema.safeParse(argument ?? byDefault);
  return parsed.success ? ({ kind, argument: parsed.data } as FaultEffect) : null;
}

/** Nothing: every request. `3`, `3-5`, `3-`: by number. `10%`: each with this probability. */
function parseTiming(when: string | undefined): FaultTiming | null {
  if (when === undefined) return { first: 1, last: Number.POSITIVE_INFINITY };
  const percent = /^(\d{1,3}(?:\.\d+)?)%$/.exec(when)?.[1];
  if (percent !== undefined) return Number(percent) <= 100 ? { probability: Number(percent) / 100 } : null;
  const [, from, dash, to] = /^([1-9]\d{0,8})(-)?([1-9]\d{0,8})?$/.exec(when) ?? [];
  if (from === undefined || (to !== undefined && (dash === undefined || Number(to) < Number(from)))) return null;
  const last = dash === undefined ? Number(from) : Number(to ?? Number.POSITIVE_INFINITY);
  return { first: Number(from), last };
}

/** The grammar as text for a person. */
export function describeFaults(): string {
  const kinds = FAULT_KINDS.map((kind) => {
    const { byDefault, says } = KINDS[kind];
    const only = ONLY_ON[kind] === undefined ? '' : ` (${ONLY_ON[kind].join(', ')})`;
    return `  ${(byDefault === '' ? kind : `${kind}=${byDefault}`).padEnd(20)} ${says}${only}`;
  });
  return `Faults: ENDPOINT:KIND[=ARGUMENT][@WHEN]
ENDPOINT  ${FAULT_ENDPOINTS.join(', ')}
WHEN      @3 the third request since then, @3-5, @3- from the third on, @10% each by chance (seeded); none: every one
KIND      with what holds without an argument:
${kinds.join('\n')}`;
}
