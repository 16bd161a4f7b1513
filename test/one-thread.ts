import { DuckDBInstance } from '@duckdb/node-api';

/**
 * Worlds of the tests are small: a second thread of DuckDB takes a fifth more time and has nothing to do. Child
 * processes, and tests that ask for threads, have them. Runs before each file, and takes effect once.
 */
const { create } = DuckDBInstance;
if (create.name !== 'createOnOneThread') {
  DuckDBInstance.create = function createOnOneThread(path, options) {
    return create.call(DuckDBInstance, path, { threads: '1', ...options });
  };
}
