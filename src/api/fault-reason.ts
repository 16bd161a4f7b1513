import type { Cleaner } from './clean-text.js';
import type { Timeouts } from './transport.js';

interface FaultReason {
  reason: string;
  /** True if a retry may help. False, for example, after a certificate error. */
  passing: boolean;
  /** True if this machine has rejected the service's certificate. */
  isCertificate: boolean;
  /** An error that has only the message and the code, because the original error may contain received bytes. */
  cause: Error;
}

const CERTIFICATE = /CERT|SELF_SIGNED|UNABLE_TO_(?:GET|VERIFY)/;
/** The codes of TLS errors that a retry can't fix, for example because the service doesn't support TLS. */
const LASTING = /ERR_SSL_/;

/** True if the error code means that a server's certificate was rejected. */
export const isCertificateCode = (code: string | undefined): boolean => CERTIFICATE.test(code ?? '');

/** The hint for a certificate that this machine doesn't trust. */
export const CERTIFICATE_HINT =
  'If your network has its own certificate authority, set NODE_EXTRA_CA_CERTS to its certificate file (PEM) and run the command again.';

/** Explains a network error of Node, undici or zlib by the first code among its causes, or else by its message. */
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
