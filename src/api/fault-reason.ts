import type { Cleaner } from './clean-text.js';
import type { Timeouts } from './transport.js';

/** For a message: what broke. */
export interface FaultReason {
  reason: string;
  /** False if no repetition helps, for example if a certificate does not fit. */
  passing: boolean;
  /** Message and code only: the original error may hold received bytes. */
  cause: Error;
}

/** TLS: the service cannot prove its identity, or does not speak TLS. */
const LASTING = /CERT|SELF_SIGNED|UNABLE_TO_(?:GET|VERIFY)|ERR_SSL_/;

/** Finds the code or the message of a network error in its causes (Node, undici, zlib). */
export function explainFault(error: unknown, timeouts: Timeouts, cleaner: Cleaner): FaultReason {
  const code = findCode(error);
  const message = cleaner.text(error instanceof Error ? error.message : String(error));
  const cause = Object.assign(new Error(message), code === undefined ? {} : { code });
  const reason = nameFault(code, timeouts) ?? code ?? message;
  return { reason, passing: !LASTING.test(code ?? ''), cause };
}

function nameFault(code: string | undefined, timeouts: Timeouts): string | undefined {
  switch (code) {
    case 'ENOTFOUND':
      return `host not found: ${code}`;
    case 'EAI_AGAIN':
      return `the name server does not answer: ${code}`;
    case 'ECONNREFUSED':
      return `connection refused: ${code}`;
    case 'UND_ERR_CONNECT_TIMEOUT':
      return `no connection within ${toSeconds(timeouts.connectMs)}`;
    case 'UND_ERR_HEADERS_TIMEOUT':
      return `no answer within ${toSeconds(timeouts.headersMs)}`;
    case 'UND_ERR_BODY_TIMEOUT':
      return `no data for ${toSeconds(timeouts.stallMs)}`;
    case 'UND_ERR_HEADERS_OVERFLOW':
      return 'the headers of the answer are larger than 16 KiB';
    case 'UND_ERR_SOCKET':
    case 'UND_ERR_RES_CONTENT_LENGTH_MISMATCH':
      return 'the connection closed early';
    case 'Z_BUF_ERROR':
      return 'the gzip body ends early';
    case 'Z_DATA_ERROR':
      return 'the gzip body is damaged';
    default:
      return undefined;
  }
}

function findCode(error: unknown): string | undefined {
  for (let e: unknown = error; e instanceof Error; e = e.cause) {
    const { code } = e as NodeJS.ErrnoException;
    if (typeof code === 'string') return code;
  }
  return undefined;
}

function toSeconds(ms: number): string {
  return `${ms / 1000} s`;
}
