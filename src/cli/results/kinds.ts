import * as z from 'zod';
import { RawJson } from '../json-text.js';
import { toPrintedName } from '../member-names.js';

export const int64 = z.bigint();
export const time = z.date();

const RAW = new WeakMap<z.ZodType, z.ZodType>();

/** Declares a member whose value is a text that is already JSON. `says` is the schema of the value in the text. */
export function raw(says: z.ZodType): z.ZodType<RawJson> {
  const schema = z.instanceof(RawJson);
  RAW.set(schema, says);
  return schema;
}

export const anyValue = z.unknown();
/** A row of a query. The keys are the column names. */
export const row = z.map(z.string(), anyValue);

/**
 * The form of numbers that many JSON parsers would round. `--json` prints them as numbers, and MCP tools return text.
 */
export type Exactness = 'number' | 'text';

const ANY_MEMBERS = { type: 'object', propertyNames: { type: 'string' }, additionalProperties: {} };

/** Renames the properties of a JSON Schema to the names that are printed. */
function renameProperties(described: { properties?: Record<string, unknown>; required?: string[] }): void {
  const { properties = {}, required } = described;
  described.properties = Object.fromEntries(
    Object.entries(properties).map(([name, schema]) => [toPrintedName(name), schema]),
  );
  if (required !== undefined) described.required = required.map(toPrintedName);
}

/**
 * Builds the JSON Schema of a report. `number` is for the output of `--json`, and `text` is for the answer of an MCP
 * tool.
 */
export function toOutputSchema(schema: z.ZodType, exactness: Exactness): Record<string, unknown> {
  const { $schema: _, ...described } = z.toJSONSchema(schema, {
    unrepresentable: 'any',
    override: ({ zodSchema, jsonSchema }) => {
      const { type } = zodSchema._zod.def;
      // Additional properties are allowed, so that a client doesn't reject an answer with a new member.
      if (exactness === 'text') delete jsonSchema.additionalProperties;
      if (type === 'bigint') {
        Object.assign(
          jsonSchema,
          exactness === 'number' ? { type: 'integer' } : { type: 'string', pattern: '^-?[0-9]+$' },
        );
      }
      if (type === 'map') Object.assign(jsonSchema, ANY_MEMBERS);
      if (type === 'object') renameProperties(jsonSchema);
      if (type === 'date') Object.assign(jsonSchema, { type: 'string', format: 'date-time' });
      const says = RAW.get(zodSchema as unknown as z.ZodType);
      if (says !== undefined) Object.assign(jsonSchema, toOutputSchema(says, exactness));
    },
  });
  return described;
}
