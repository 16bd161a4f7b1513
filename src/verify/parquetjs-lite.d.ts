/** Declares the types of parquetjs-lite that pricelake uses. They represent the footer of a file in Thrift. */
declare module 'parquetjs-lite' {
  /** A 64-bit integer as Thrift represents it (node-int64). It is exact up to 2^53. */
  interface Int64 {
    valueOf(): number;
  }
  interface SchemaElement {
    name: string;
    num_children: number | null;
  }
  interface ColumnChunk {
    meta_data: { codec: number; path_in_schema: string[] };
  }
  interface RowGroup {
    num_rows: Int64;
    columns: ColumnChunk[];
  }
  export interface FileMetaData {
    num_rows: Int64;
    schema: SchemaElement[];
    row_groups: RowGroup[];
  }
  export class ParquetEnvelopeReader {
    constructor(
      read: (offset: number, length: number) => Promise<Buffer>,
      close: () => Promise<void>,
      fileSize: number,
    );
    readHeader(): Promise<void>;
    readFooter(): Promise<FileMetaData>;
  }
  const parquet: { ParquetEnvelopeReader: typeof ParquetEnvelopeReader };
  export default parquet;
}
