/**
 * Thrift's compact protocol as a tree that keeps every field, known or not: what is read and written again has the same
 * bytes. Integers are bigint, so that int64 stays exact.
 */
export type ThriftValue = boolean | bigint | number | Buffer | ThriftList | ThriftStruct;

export interface ThriftList {
  of: number;
  values: ThriftValue[];
}

interface ThriftField {
  type: number;
  value: ThriftValue;
}

/** Fields by their ids, in order. */
export type ThriftStruct = Map<number, ThriftField>;

/** Types of the compact protocol. The type of a boolean field is its value. */
const TRUE = 1;
const FALSE = 2;
const I8 = 3;
const I16 = 4;
const I32 = 5;
export const I64 = 6;
const DOUBLE = 7;
const BINARY = 8;
export const LIST = 9;
const SET = 10;
export const STRUCT = 12;

/** Structs in structs: a file's footer has seven. */
const DEEPEST = 32;

/** @throws Error where the bytes are not a struct, or are of a type that no footer has (maps) */
export function readThrift(bytes: Buffer): ThriftStruct {
  const reader = new Reader(bytes);
  return reader.struct(0);
}

export function writeThrift(struct: ThriftStruct): Buffer {
  const writer = new Writer();
  writer.struct(struct);
  return writer.take();
}

class Reader {
  readonly #bytes: Buffer;
  #at = 0;

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
  }

  struct(depth: number): ThriftStruct {
    if (depth > DEEPEST) throw new Error('structs are nested too deep');
    const fields: ThriftStruct = new Map();
    for (let last = 0; ; ) {
      const head = this.#byte();
      if (head === 0) return fields;
      const type = head & 15;
      const id = head >> 4 === 0 ? Number(this.#zigzag()) : last + (head >> 4);
      const value = type === TRUE || type === FALSE ? type === TRUE : this.#value(type, depth);
      fields.set(id, { type, value });
      last = id;
    }
  }

  #value(type: number, depth: number): ThriftValue {
    switch (type) {
      case TRUE:
      case FALSE:
        return this.#byte() === TRUE;
      case I8:
        return this.#byte();
      case I16:
      case I32:
      case I64:
        return this.#zigzag();
      case DOUBLE:
        return this.#take(8).readDoubleLE();
      case BINARY:
        return this.#take(this.#length());
      case LIST:
      case SET:
        return this.#list(depth);
      case STRUCT:
        return this.struct(depth + 1);
      default:
        throw new Error(`type ${type} is not expected`);
    }
  }

  #list(depth: number): ThriftList {
    const head = this.#byte();
    const size = head >> 4 === 15 ? this.#length() : head >> 4;
    const values: ThriftValue[] = [];
    for (let i = 0; i < size; i++) values.push(this.#value(head & 15, depth));
    return { of: head & 15, values };
  }

  /** Each element takes at least a byte, so no length is beyond what is left. */
  #length(): number {
    const length = this.#varint();
    if (length > BigInt(this.#bytes.length - this.#at)) throw new Error('a length is beyond the end');
    return Number(length);
  }

  #byte(): number {
    const byte = this.#bytes[this.#at];
    if (byte === undefined) throw new Error('it ends too early');
    this.#at += 1;
    return byte;
  }

  #take(length: number): Buffer {
    if (this.#at + length > this.#bytes.length) throw new Error('it ends too early');
    this.#at += length;
    return this.#bytes.subarray(this.#at - length, this.#at);
  }

  #varint(): bigint {
    // Most numbers have up to 28 bits, which need no bigint on the way.
    let low = 0;
    for (let shift = 0; shift < 28; shift += 7) {
      const byte = this.#byte();
      low |= (byte & 127) << shift;
      if (byte < 128) return BigInt(low);
    }
    let value = BigInt(low);
    for (let shift = 28n; shift < 70n; shift += 7n) {
      const byte = this.#byte();
      value |= BigInt(byte & 127) << shift;
      if (byte < 128) return BigInt.asUintN(64, value);
    }
    throw new Error('a number is longer than 64 bits');
  }

  #zigzag(): bigint {
    const value = this.#varint();
    return (value >> 1n) ^ -(value & 1n);
  }
}

class Writer {
  #bytes = Buffer.allocUnsafe(1 << 16);
  #at = 0;

  take(): Buffer {
    return this.#bytes.subarray(0, this.#at);
  }

  struct(fields: ThriftStruct): void {
    let last = 0;
    for (const [id, { type, value }] of fields) {
      const tag = typeof value === 'boolean' ? (value ? TRUE : FALSE) : type;
      if (id > last && id - last < 16) this.#byte(((id - last) << 4) | tag);
      else {
        this.#byte(tag);
        this.#zigzag(BigInt(id));
      }
      if (typeof value !== 'boolean') this.#value(type, value);
      last = id;
    }
    this.#byte(0);
  }

  #value(type: number, value: ThriftValue): void {
    if (typeof value === 'boolean') this.#byte(value ? TRUE : FALSE);
    else if (typeof value === 'bigint') this.#zigzag(value);
    else if (typeof value === 'number') this.#number(type, value);
    else if (Buffer.isBuffer(value)) this.#binary(value);
    else if (value instanceof Map) this.struct(value);
    else this.#list(value);
  }

  #number(type: number, value: number): void {
    if (type === I8) {
      this.#byte(value);
      return;
    }
    this.#need(8);
    this.#at = this.#bytes.writeDoubleLE(value, this.#at);
  }

  #binary(value: Buffer): void {
    this.#varint(BigInt(value.length));
    this.#need(value.length);
    this.#at += value.copy(this.#bytes, this.#at);
  }

  #list({ of, values }: ThriftList): void {
    if (values.length < 15) this.#byte((values.length << 4) | of);
    else {
      this.#byte(0xf0 | of);
      this.#varint(BigInt(values.length));
    }
    for (const value of values) this.#value(of, value);
  }

  #zigzag(value: bigint): void {
    this.#varint(BigInt.asUintN(64, (value << 1n) ^ (value >> 63n)));
  }

  #varint(value: bigint): void {
    let rest = value;
    for (; rest > 127n; rest >>= 7n) this.#byte(Number(rest & 127n) | 128);
    this.#byte(Number(rest));
  }

  #byte(byte: number): void {
    this.#need(1);
    this.#bytes[this.#at] = byte;
    this.#at += 1;
  }

  #need(length: number): void {
    if (this.#at + length <= this.#bytes.length) return;
    const larger = Buffer.allocUnsafe(2 * (this.#bytes.length + length));
    this.#bytes.copy(larger, 0, 0, this.#at);
    this.#bytes = larger;
  }
}
