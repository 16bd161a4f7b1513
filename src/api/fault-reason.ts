import type { Timeouts } from './transport.js';

/** What broke, for a message, and whether another attempt can change it. */
export interface FaultReason {
  reason: string;
  /** False for what no repetition mends, such as a certificate that does not fit. */
  passing: boolean;
}

/** TLS: the service cannot prove that it is the one asked for. */
const CERTIFICATE = /CERT|SELF_SIGNED|UNABLE_TO_(?:GET|VERIFY)/;

/** Reads the code or the message of a network error through its causes (Node, undici, zlib). */
export function explainFault(error: unknown, timeouts: Timeouts): FaultReason {
  const code = findCode(error);
  const name = code ?? (error instanceof Error ? error.message : String(error));
  switch (code) {
    case 'UND_ERR_CONNECT_TIMEOUT':
      return { reason: `no connection within ${toSeconds(timeouts.connectMs)}`, passing: true };
    case 'UND_ERR_HEADERS_TIMEOUT':
      return { reason: `no answer within ${toSeconds(timeouts.headersMs)}`, passing: true };
    case 'UND_ERR_BODY_TIMEOUT':
      return { reason: `no data for ${toSeconds(timeouts.stallMs)}`, passing: true };
    case 'UND_ERR_SOCKET':
    case 'UND_ERR_RES_CONTENT_LENGTH_MISMATCH':
      return { reason: 'the connection closed early', passing: true };
    case 'Z_BUF_ERROR':
      return { reason: 'the gzip body ends early', passing: true };
    case 'Z_DATA_ERROR':
      return { reason: 'the gzip body is damaged', passing: true };
    default:
      return { reason: name, passing: !CERTIFICATE.test(name) };
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
