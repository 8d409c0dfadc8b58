// The fields of an object that a merchant wrote.

/** An object's own fields, and those of these names that it inherits, such as a class's getters. Other values as they are. */
export function fieldsOf(value: unknown, names: Iterable<string>): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  const fields: Record<string, unknown> = { ...value };
  for (const name of names) if (!(name in fields) && name in value) fields[name] = value[name as never];
  return fields;
}
