import * as z from 'zod';
import { planInfo } from '../../api/account-contract.js';
import * as contract from '../../api/contract.js';
import { int64 } from '../../api/wire-types.js';
import type { AnswerName } from '../../tables/table.js';

/** The JSON type of a value. `text` is a cell of a CSV file, where values have no type and can't be null. */
export type JsonKind = 'null' | 'boolean' | 'integer' | 'number' | 'string' | 'array' | 'object' | 'text';

export interface DescribedValue {
  kinds: ReadonlySet<JsonKind>;
  /** The fields of an object, keyed by name. Undefined if the service chooses the names of the fields. */
  members?: ReadonlyMap<string, DescribedValue>;
  /** Describes each element of a list, or each value of an object if the service chooses the names of its fields. */
  each?: DescribedValue;
  /** True if the string is a date-time. The lake stores date-times with a precision of microseconds. */
  isTime?: true;
  /** The allowed strings. Undefined if any string is allowed. */
  values?: ReadonlySet<unknown>;
}

const NUMBER: JsonKind[] = ['integer', 'number'];

/** Returns the JSON type that a schema's metadata declares. zod's own type is that of the parsed value. */
function readWireType(schema: z.core.$ZodType): DescribedValue | undefined {
  const { type, format } = z.globalRegistry.get(schema) ?? {};
  if (format === 'int64' || format === 'int32') return { kinds: new Set(['integer']) };
  if (format === 'date-time') return { kinds: new Set(['string']), isTime: true };
  return type === 'number' ? { kinds: new Set(NUMBER) } : undefined;
}

/** Describes the JSON values that a schema allows. @throws Error for an unknown kind of schema */
export function describeValue(schema: z.core.$ZodType): DescribedValue {
  const wire = readWireType(schema);
  if (wire !== undefined) return wire;
  if (schema instanceof z.ZodNullable) {
    const inner = describeValue(schema.unwrap());
    return { ...inner, kinds: new Set([...inner.kinds, 'null']) };
  }
  if (schema instanceof z.ZodObject) {
    const members = Object.entries(schema.shape as Record<string, z.core.$ZodType>);
    return {
      kinds: new Set(['object']),
      members: new Map(members.map(([name, member]) => [name, describeValue(member)])),
    };
  }
  if (schema instanceof z.ZodArray) return { kinds: new Set(['array']), each: describeValue(schema.element) };
  if (schema instanceof z.ZodTuple) return { kinds: new Set(['array']) };
  if (schema instanceof z.ZodRecord) {
    const isFree = schema.valueType instanceof z.ZodUnknown;
    return { kinds: new Set(['object']), ...(isFree ? {} : { each: describeValue(schema.valueType) }) };
  }
  if (schema instanceof z.ZodEnum) return { kinds: new Set(['string']), values: new Set(schema.options) };
  if (schema instanceof z.ZodString) return { kinds: new Set(['string']) };
  if (schema instanceof z.ZodBoolean) return { kinds: new Set(['boolean']) };
  throw new Error(
    `the contract contains a schema of type ${schema._zod.def.type}, which describeValue doesn't support`,
  );
}

/** The entry of an item's history after `nameItem` in histories/land-histories.ts has added the item to it. */
const landedHistoryEntry = contract.historyEntry.extend({ item: z.looseObject({ id: int64 }) });

/** The structure of a row in each kind of response, as the API document describes it (API §2). */
export const DESCRIBED: Readonly<Record<AnswerName, DescribedValue>> = {
  '/export': describeExportRow(),
  '/items': describeValue(contract.item),
  '/changes': describeValue(contract.change),
  webhook: describeValue(contract.change),
  '/items/{id}/history': describeValue(landedHistoryEntry),
  '/datasets': describeValue(contract.dataset),
  '/facets': describeValue(contract.facets),
  '/products': describeValue(contract.product),
  // Only `status` is described, because the run already fails if any other field has an invalid value.
  '/plan': describeValue(planInfo.pick({ status: true })),
};

/** Describes a row of an export. The API document doesn't define how objects are flattened, so strings are allowed. */
function describeExportRow(): DescribedValue {
  const item = describeValue(contract.item);
  const members = [...(item.members ?? [])].map(([name, value]): [string, DescribedValue] => {
    const isFlat = value.kinds.has('object') || value.kinds.has('array');
    return [name, isFlat ? { ...value, kinds: new Set([...value.kinds, 'string']) } : value];
  });
  return { ...item, members: new Map(members) };
}

/** Formats JSON types in the notation of the API document, such as `number` or `string|null`. */
export function nameKinds(kinds: ReadonlySet<JsonKind>): string {
  const named = NUMBER.every((kind) => kinds.has(kind)) ? [...kinds].filter((kind) => kind !== 'integer') : [...kinds];
  return named.sort((a, b) => Number(a === 'null') - Number(b === 'null')).join('|');
}
