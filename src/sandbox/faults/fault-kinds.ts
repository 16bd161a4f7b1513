/** Short names of the endpoints in API §4. `any` matches all of them. */
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

interface KindFacts {
  /** The argument to use if the user gives none; empty if the fault has no argument. */
  byDefault: string;
  /** A description of the fault's effect, for the command's help. */
  says: string;
  /** The endpoints that support this kind of fault. If undefined, all endpoints support it. */
  only?: readonly FaultEndpoint[];
}

/** The kinds of faults. They are defined apart from the parser, so that `--help` doesn't load zod. */
const KIND_FACTS = {
  drop: { byDefault: '0.5', says: 'the connection breaks after this share of the body' },
  stall: { byDefault: '0.5', says: 'the body stalls after this share' },
  html: { byDefault: '503', says: 'an HTML page with this status, as from a proxy' },
  '401': { byDefault: '', says: 'the key is revoked' },
  '402': { byDefault: 'paymentOverdue', says: 'an error for this limit' },
  '429': { byDefault: 'ratePerSecond', says: 'an error for this limit, with Retry-After' },
  redirect: { byDefault: 'same', says: 'a 307 redirect to the same host, or to an `other`' },
  rows: { byDefault: '1', says: 'X-Export-Rows is off by this number', only: ['export'] },
  malformed: { byDefault: '1', says: 'this row, or a JSON response, is cut short' },
  duplicate: { byDefault: '1', says: 'this number of rows or entries come twice' },
  unknown: { byDefault: 'novelty', says: 'rows and entries have this extra field' },
  missing: { byDefault: 'price', says: 'rows and entries lack this field' },
  move: { byDefault: '100', says: 'this number of changes happen halfway through an export' },
  'stale-cursor': {
    byDefault: '',
    says: "nextCursor doesn't advance although more changes are waiting",
    only: ['changes', 'recent'],
  },
} as const satisfies Record<string, KindFacts>;
export type FaultKind = keyof typeof KIND_FACTS;
export const FAULT_KINDS = Object.keys(KIND_FACTS) as FaultKind[];

export function factsOf(kind: FaultKind): KindFacts {
  return KIND_FACTS[kind];
}

/** Builds the help text about faults. */
export function describeFaults(): string {
  const kinds = FAULT_KINDS.map((kind) => {
    const { byDefault, says, only } = factsOf(kind);
    const where = only === undefined ? '' : ` (${only.join(', ')})`;
    return `    ${(byDefault === '' ? kind : `${kind}=${byDefault}`).padEnd(20)} ${says}${where}`;
  });
  return `A fault is ENDPOINT:KIND[=ARGUMENT][@WHEN], such as export:drop@1 or any:429@5%.
  ENDPOINT  ${FAULT_ENDPOINTS.slice(0, 7).join(', ')},
            ${FAULT_ENDPOINTS.slice(7).join(', ')}
  WHEN      @3 the third request, @3-5, @3- the third and later ones,
            @10% a random share, drawn from the seed; none: every request
  KIND      with its default argument:
${kinds.join('\n')}`;
}
