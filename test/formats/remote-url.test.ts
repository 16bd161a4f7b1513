import { expect, test } from 'vitest';
import { parseRemoteUrl, showRemoteUrl } from '../../src/formats/remote-url.js';

test.each([
  ['s3://bucket', { bucket: 'bucket', prefix: '', endpoint: undefined, region: undefined, pathStyle: false }],
  ['s3://my.bucket/a/b/', { bucket: 'my.bucket', prefix: 'a/b' }],
  ['s3://bucket/a?endpoint=http://127.0.0.1:9000', { endpoint: 'http://127.0.0.1:9000', pathStyle: true }],
  ['s3://bucket/a?endpoint=https://r2.example&pathStyle=false&region=auto', { pathStyle: false, region: 'auto' }],
])('%s is a valid remote address', (text, expected) => {
  expect(parseRemoteUrl(text)).toMatchObject(expected);
});

test.each([
  ...['', 'bucket/prefix', 'gs://bucket', 's3:///prefix', 's3://b', 's3://bucket/../other', 's3://bucket//a'],
  ...['s3://key:secret@bucket/a', 's3://bucket/a#x', 's3://bucket/a?accessKey=AKIA', 's3://bucket/a?pathStyle=yes'],
  ...[
    's3://bucket/a?endpoint=host:9000',
    's3://bucket?endpoint=http://user:secret@host',
    's3://bucket?endpoint=http://host/path',
  ],
])('"%s" is not a valid remote address', (text) => {
  expect(parseRemoteUrl(text)).toBeUndefined();
});

test('only the parts that identify the lake are shown', () => {
  const url = parseRemoteUrl('s3://bucket/a?endpoint=http://host:1&region=x');
  expect(url && showRemoteUrl(url)).toBe('s3://bucket/a?endpoint=http://host:1');
});
