// The public exports of payment-gateway-sdk/testing: suites that prove your own store or database.
export { type SqlDatabaseSuiteOptions, sqlDatabaseSuite } from './sql-database-suite.ts';
export { type StoreSuiteOptions, storeSuite } from './store-suite.ts';
export type { TestFunction } from './test-function.ts';
