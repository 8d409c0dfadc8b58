// The public exports of payment-gateway-sdk/testing: suites that prove your own store or database.
export { type InboxSuiteOptions, inboxSuite } from './inbox-suite.ts';
export { type JournalSuiteOptions, journalSuite } from './journal-suite.ts';
export { type SqlDatabaseSuiteOptions, sqlDatabaseSuite } from './sql-database-suite.ts';
export type { TestFunction } from './test-function.ts';
