// What a schema refused, told without the values.
import type * as z from 'zod';
import type { Issue } from './errors.ts';

export const issuesOf = (error: z.core.$ZodError): Issue[] =>
  error.issues.map(({ path, message }) => ({ path: path.map(String).join('.'), message }));
