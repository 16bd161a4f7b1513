import type { Cleaner } from './clean-text.js';
import type { Timeouts } from './transport.js';

interface FaultReason {
  reason: string;
  /** False if a retry can't help, for example after a certificate fault. */
  passing: boolean;
  /** True if the service can't prove its identity. */
  isCertificate: boolean;
  /** Message and code only, because the original error may contain received bytes. */
  cause: Error;
}

const CERTIFICATE = /CERT|SELF_SIGNED|UNABLE_TO_(?:GET|VERIFY)/;
/** Codes of errors that no retry can fix: the service does not speak TLS. */
const LASTING = /ERR_SSL_/;

/** True for the code of a TLS error that a server can't prove its identity. */
export const isCertificateCode = (code: string | undefined): boolean => CERTIFICATE.test(code ?? '');

/** Advice for a certificate that this machine does not trust. */
export const CERTIFICATE_HINT =
  'If your network has a certificate authority of its own, set NODE_EXTRA_CA_CERTS to its certificate file (PEM) before the command starts.';

/** Finds the code or message of a network error in its causes (Node, undici, zlib). */
export function explainFault(error: unknown, timeouts: Timeouts, cleaner: Cleaner): FaultReason {
  const code = findCode(error);
  const message = cleaner.text(error instanceof Error ? error.message : String(error));
  const cause = Object.assign(new Error(message), code === undefined ? {} : { code });
  const isRefusal = /^Proxy (?:response|Authentication)/.test(message);
  const reason = isRefusal ? message : (REASONS[code ?? '']?.(timeouts) ?? code ?? message);
  const isCertificate = isCertificateCode(code);
  return { reason, passing: !isCertificate && !isRefusal && !LASTING.test(code ?? ''), isCertificate, cause };
}

const REASONS: Record<string, (timeouts: Timeouts) => string> = {
  ENOTFOUND: () => 'host not found: ENOTFOUND',
  EAI_AGAIN: () => "the DNS server doesn't respond (EAI_AGAIN)",
  ECONNREFUSED: () => 'connection refused: ECONNREFUSED',
  UND_ERR_CONNECT_TIMEOUT: ({ connectMs }) => `no connection within ${connectMs / 1000} s`,
  UND_ERR_HEADERS_TIMEOUT: ({ headersMs }) => `no response within ${headersMs / 1000} s`,
  UND_ERR_BODY_TIMEOUT: ({ stallMs }) => `no data for ${stallMs / 1000} s`,
  UND_ERR_HEADERS_OVERFLOW: () => 'the response headers are larger than 16 KiB',
  UND_ERR_SOCKET: () => 'the connection closed early',
  UND_ERR_RES_CONTENT_LENGTH_MISMATCH: () => 'the connection closed early',
  Z_BUF_ERROR: () => 'the gzip body ends early',
  Z_DATA_ERROR: () => 'the gzip body is damaged',
};

function findCode(error: unknown): string | undefined {
  for (let e: unknown = error; e instanceof Error; e = e.cause) {
    const { code } = e as NodeJS.ErrnoException;
    if (typeof code === 'string') return code;
  }
  return undefined;
}
