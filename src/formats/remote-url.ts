export interface RemoteUrl {
  bucket: string;
  /** The prefix of all keys in the bucket, without slashes at its ends; empty if the lake uses the whole bucket. */
  prefix: string;
  /** The store's address. If it is undefined, the SDK's settings choose the store, which is AWS by default. */
  endpoint: string | undefined;
  region: string | undefined;
  /** True if requests name the bucket in the path, not in the host name. */
  pathStyle: boolean;
}

export const REMOTE_URL =
  'must be an address such as s3://bucket/prefix, with ?endpoint=, ?region= and ?pathStyle= if needed';

const PARAMETERS = ['endpoint', 'region', 'pathStyle'];

/** Parses `s3://bucket/prefix?endpoint=https://host:9000&region=eu-1&pathStyle=true`, or returns undefined. */
export function parseRemoteUrl(text: string): RemoteUrl | undefined {
  const [, bucket = '', path = '', query = ''] = /^s3:\/\/([^/?#@]*)(\/[^?#]*)?(?:\?([^#]*))?$/.exec(text) ?? [];
  if (!/^[A-Za-z0-9][\w.-]{1,253}[A-Za-z0-9]$/.test(bucket)) return undefined;
  const prefix = path.replace(/^\/|\/$/g, '');
  if (prefix !== '' && !prefix.split('/').every(isSegment)) return undefined;
  const parameters = new URLSearchParams(query);
  if (![...parameters.keys()].every((name) => PARAMETERS.includes(name))) return undefined;
  const endpoint = parameters.get('endpoint') ?? undefined;
  if (endpoint !== undefined && !isEndpoint(endpoint)) return undefined;
  const pathStyle = parameters.get('pathStyle') ?? String(endpoint !== undefined);
  if (!['true', 'false'].includes(pathStyle)) return undefined;
  return { bucket, prefix, endpoint, region: parameters.get('region') ?? undefined, pathStyle: pathStyle === 'true' };
}

/** Formats only the bucket, the prefix and the endpoint, because other parts of the URL may be secret. */
export function showRemoteUrl({ bucket, prefix, endpoint }: RemoteUrl): string {
  const url = prefix === '' ? `s3://${bucket}` : `s3://${bucket}/${prefix}`;
  return endpoint === undefined ? url : `${url}?endpoint=${endpoint}`;
}

function isSegment(segment: string): boolean {
  return segment !== '' && segment !== '.' && segment !== '..';
}

/** True for an http(s) URL without a path, a query or credentials, because endpoints are shown and logged. */
function isEndpoint(text: string): boolean {
  if (!URL.canParse(text)) return false;
  const { protocol, username, password, pathname, search, hash } = new URL(text);
  return /^https?:$/.test(protocol) && `${username}${password}${search}${hash}` === '' && pathname === '/';
}
