// Hints in messages: the name that was probably meant.

/** Fields of a request are too many to list. */
export function unknownNames(kind: string, unknown: readonly string[], known: readonly string[]) {
  const meant = unknown.map(name => nearest(name, known));
  const described = unknown.map((name, at) => `"${name}"${meant[at] ? ` (did you mean "${meant[at]}"?)` : ''}`);
  const list = kind === 'field' || meant.some(Boolean) ? '' : `; there are: ${known.join(', ')}`;
  return `unknown ${kind} ${described.join(', ')}${list}`;
}

/** Finds the known name in another spelling, or with one letter too many, too few, wrong or swapped. */
export const nearest = (given: string, known: readonly string[]) =>
  known.find(name => isNear(lettersOf(given), lettersOf(name)));

/** One text for `firstName`, `first_name` and `First-Name`. */
export const lettersOf = (name: string) => name.replace(/[_-]/g, '').toLowerCase();

function isNear(a: string, b: string) {
  let start = 0;
  while (start < a.length && a[start] === b[start]) start++;
  const [restA, restB] = [a.slice(start), b.slice(start)];
  const swapped = restA.replace(/^(.)(.)/, '$2$1');
  return restA.slice(1) === restB || restA === restB.slice(1) || restA.slice(1) === restB.slice(1) || swapped === restB;
}
