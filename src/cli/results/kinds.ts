import * as z from 'zod';
import { RawJson } from '../json-text.js';

/** A 64-bit integer of a report. */
export const int64 = z.bigint();
export const time = z.date();

const RAW = new WeakMap<z.ZodType, z.ZodType>();

/** Text that is JSON already, and what it says. */
export function raw(says: z.ZodType): z.ZodType<RawJson> {
  const schema = z.instanceof(RawJson);
  RAW.set(schema, says);
  return schema;
}

export const anyValue = z.unknown();
/** A row of a query, by the names of its columns. */
export const row = z.record(z.string(), anyValue);

/** Numbers that lose digits in many readers are plain numbers (`--json`), or text (MCP). */
export type Exactness = 'number' | 'text';

/** JSON Schema of a report as `--json` prints it, or as an MCP tool returns it. */
export function toOutputSchema(schema: z.ZodType, exactness: Exactness): Record<string, unknown> {
  const { $schema: _, ...described } = z.toJSONSchema(schema, {
    unrepresentable: 'any',
    override: ({ zodSchema, jsonSchema }) => {
      const { type } = zodSchema._zod.def;
      // An answer to a program is never withheld because it says more.
      if (exactness === 'text') delete jsonSchema.additionalProperties;
      if (type === 'bigint') {
        Object.assign(
          jsonSchema,
          exactness === 'number' ? { type: 'integer' } : { type: 'string', pattern: '^-?[0-9]+$' },
        );
      }
      if (type === 'date') Object.assign(jsonSchema, { type: 'string', format: 'date-time' });
      const says = RAW.get(zodSchema as unknown as z.ZodType);
      if (says !== undefined) Object.assign(jsonSchema, toOutputSchema(says, exactness));
    },
  });
  return described;
}
