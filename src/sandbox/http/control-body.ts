import type { Context } from 'hono';
import * as z from 'zod';
import { PricelakeError } from '../../errors/errors.js';
import { ApiError } from './api-error.js';

/** The body of a control call as JSON; undefined for none. */
export function readBody(c: Context): Promise<unknown> {
  return c.req.json().catch(() => undefined);
}

export function parseBody<T extends z.ZodType>(schema: T, body: unknown, example: string): z.infer<T> {
  const parsed = schema.safeParse(body);
  if (parsed.success) return parsed.data;
  throw new ApiError(400, `Body: JSON such as ${example} is expected. ${z.prettifyError(parsed.error)}`);
}

/** What the command line would refuse answers 400. */
export function refuseUsage(work: () => void): void {
  try {
    work();
  } catch (error) {
    throw error instanceof PricelakeError ? new ApiError(400, error.message) : error;
  }
}
