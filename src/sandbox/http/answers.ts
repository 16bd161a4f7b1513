import { STATUS_CODES } from 'node:http';
import type { LIMIT_NAMES } from '../../api/account-contract.js';
import { OVERDUE_DAYS, type Plan } from '../plans.js';

export type LimitName = (typeof LIMIT_NAMES)[number];

const DOCS_URL = 'https://docs.sandbox.example/errors';
export const UPGRADE_URL = 'https://sandbox.example/plans';

/** An error response (API §7, Error). */
export class ApiError extends Error {
  readonly status: number;
  readonly extra: Record<string, unknown>;
  /** The value of the Retry-After header in seconds; undefined if the response has no such header. */
  readonly retryAfter: number | undefined;

  constructor(status: number, message: string, extra: Record<string, unknown> = {}, retryAfter?: number) {
    super(message);
    this.status = status;
    this.extra = extra;
    this.retryAfter = retryAfter;
  }

  get statusText(): string {
    return STATUS_CODES[this.status] ?? 'Error';
  }

  toJson(): object {
    const { status, statusText: error, message } = this;
    return { status, error, message, docsUrl: `${DOCS_URL}/${this.extra.limit ?? status}`, ...this.extra };
  }

  toResponse(): Response {
    const response = Response.json(this.toJson(), { status: this.status });
    if (this.retryAfter !== undefined) response.headers.set('Retry-After', String(this.retryAfter));
    return response;
  }
}

/** Builds a 400 error that names the parameter and its allowed values. */
export function refuseParameter(name: string, arrived: string, allowed: string): ApiError {
  return new ApiError(400, `Parameter '${name}' is not valid: '${arrived}'. Allowed: ${allowed}.`);
}

/** Builds an error for an exceeded limit. @param retryAfter seconds until the client may retry */
export function refuseByLimit(
  status: 402 | 429,
  { code, limits }: Plan,
  limit: LimitName,
  message: string,
  retryAfter?: number,
): ApiError {
  const allowed = limit === 'paymentOverdue' ? OVERDUE_DAYS : limits[limit];
  return new ApiError(status, message, { limit, allowed, plan: code, upgradeUrl: UPGRADE_URL }, retryAfter);
}

/** Builds a response from bytes that are already JSON. */
export function answerJson(body: Uint8Array): Response {
  const headers = { 'Content-Type': 'application/json', 'Content-Length': String(body.byteLength) };
  return new Response(body as Uint8Array<ArrayBuffer>, { headers });
}
