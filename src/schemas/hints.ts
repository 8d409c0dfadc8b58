// Hints in messages: the name that was probably meant.

/** @param kind of a request, `field`: it has too many to list */
export function unknownNames(kind: string, unknown: readonly string[], known: readonly string[]): string {
  const described = unknown.map(name => {
    const meant = nearest(name, known);
    return meant ? `"${name}" (did you mean "${meant}"?)` : `"${name}"`;
  });
  const isListed = kind !== 'field' && !unknown.some(name => nearest(name, known));
  return `unknown ${kind} ${described.join(', ')}${isListed ? `; there are: ${known.join(', ')}` : ''}`;
}

/** Finds the known name in another spelling, or with one letter too many, too few, wrong or swapped. */
export const nearest = (given: string, known: readonly string[]): string | undefined =>
  known.find(name => isNear(lettersOf(given), lettersOf(name)));

/** The same for `FirstName`, `first_name`, `first-name` and `firstName`. */
export const lettersOf = (name: string): string => name.replace(/[_-]/g, '').toLowerCase();

function isNear(a: string, b: string): boolean {
  let start = 0;
  while (start < a.length && a[start] === b[start]) start++;
  const [restA, restB] = [a.slice(start), b.slice(start)];
  const swapped = restA.slice(1, 2) + restA.slice(0, 1) + restA.slice(2);
  return restA.slice(1) === restB || restA === restB.slice(1) || restA.slice(1) === restB.slice(1) || swapped === restB;
}
