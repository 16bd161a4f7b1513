import type { Context } from 'hono';
import * as z from 'zod';
import { PricelakeError } from '../../io/errors.js';
import { ApiError } from './answers.js';

/** Reads the body of a control call. @param parse for numbers that a double does not hold */
export async function readBody<T extends z.ZodType>(
  c: Context,
  schema: T,
  example: string,
  parse: (text: string) => unknown = JSON.parse,
): Promise<z.infer<T>> {
  const parsed = schema.safeParse(parseText(await c.req.text(), parse));
  if (parsed.success) return parsed.data;
  throw new ApiError(400, `Body: JSON such as ${example} is expected. ${z.prettifyError(parsed.error)}`);
}

function parseText(text: string, parse: (text: string) => unknown): unknown {
  try {
    return parse(text);
  } catch {
    return undefined;
  }
}

/** Answers 400 if the command line would refuse. */
export async function refuseUsage<T>(work: () => T | Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof PricelakeError)) throw error;
    throw new ApiError(400, error.facts.hint === undefined ? error.message : `${error.message}. ${error.facts.hint}`);
  }
}
