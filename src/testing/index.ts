// The public list of payment-gateway-sdk/testing: suites that prove a store, or a database, of your own.
export { type InboxSuiteOptions, inboxSuite } from './inbox-suite.ts';
export { type JournalSuiteOptions, journalSuite } from './journal-suite.ts';
export { type SqlDatabaseSuiteOptions, sqlDatabaseSuite } from './sql-database-suite.ts';
export type { TestFunction } from './test-function.ts';
