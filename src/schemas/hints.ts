// Hints in messages: the name that was probably meant.

/** Describes unknown fields or options, with the names probably meant. */
export function unknownNames(kind: 'field' | 'option', unknown: readonly string[], known: Iterable<string>): string {
  const names = [...known];
  const described = unknown.map(name => {
    // The few options differ more than the many fields of a request.
    const meant = nearest(name, names, kind === 'option' ? 2 : 1);
    return meant ? `"${name}" (did you mean "${meant}"?)` : `"${name}"`;
  });
  return `unknown ${kind} ${described.join(', ')}`;
}

/** Returns a sentence with the name probably meant, or else with all known names. */
export function hintAt(given: string, known: readonly string[]): string {
  const near = nearest(given, known);
  return near ? `Did you mean ${near}?` : `There are: ${known.join(', ')}.`;
}

/** Finds the known name that differs by a slip. @param slips the number of slips to recognise in a long name */
export const nearest = (given: string, known: readonly string[], slips: 1 | 2 = 1): string | undefined =>
  known.find(name => isNear(given.toLowerCase(), name.toLowerCase(), 1)) ??
  known.find(name => name.length >= LONG && isNear(given.toLowerCase(), name.toLowerCase(), slips));

const LONG = 6;

/** Finds the known name in another spelling: `FirstName`, `first_name` or `first-name` for `firstName`. */
export const otherSpelling = (given: string, known: readonly string[]): string | undefined =>
  known.find(name => name !== given && lettersOf(name) === lettersOf(given));

const lettersOf = (name: string): string => name.replace(/[_-]/g, '').toLowerCase();

/** @param slips letters too many, too few, wrong or swapped */
function isNear(a: string, b: string, slips: number): boolean {
  let start = 0;
  while (start < a.length && a[start] === b[start]) start++;
  const [restA, restB] = [a.slice(start), b.slice(start)];
  if (restA === restB || slips === 0) return restA === restB;
  const left = slips - 1;
  const swapped = restA[0] === restB[1] && restA[1] === restB[0];
  return (
    isNear(restA.slice(1), restB, left) ||
    isNear(restA, restB.slice(1), left) ||
    isNear(restA.slice(1), restB.slice(1), left) ||
    (swapped && isNear(restA.slice(2), restB.slice(2), left))
  );
}
