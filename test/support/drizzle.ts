// What doubles of Drizzle have in common.

/** Keeps the name of one of Drizzle's classes: a bundler may change its own. */
const KIND = Symbol.for('drizzle:entityKind');

/** A dialect of Drizzle, by the name of its class. */
export const dialectOf = (name: string): object => new (Object.assign(class {}, { [KIND]: name }))();
