export const BYTE_ORDER_MARK = [0xef, 0xbb, 0xbf];

export function withoutMark(bytes: Buffer): Buffer {
  return BYTE_ORDER_MARK.every((byte, index) => bytes[index] === byte) ? bytes.subarray(BYTE_ORDER_MARK.length) : bytes;
}
