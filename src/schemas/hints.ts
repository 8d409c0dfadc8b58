// Hints in messages: the name that was probably meant.

/** Describes unknown fields or options, with the names probably meant. */
export function unknownNames(kind: 'field' | 'option', unknown: readonly string[], known: Iterable<string>): string {
  const names = [...known];
  const described = unknown.map(name => {
    const meant = nearest(name, names);
    return meant ? `"${name}" (did you mean "${meant}"?)` : `"${name}"`;
  });
  return `unknown ${kind} ${described.join(', ')}`;
}

/** Returns a sentence with the name probably meant, or else with all known names. */
export function hintAt(given: string, known: readonly string[]): string {
  const near = nearest(given, known);
  return near ? `Did you mean ${near}?` : `There are: ${known.join(', ')}.`;
}

/** Finds the known name that differs by a slip. */
export const nearest = (given: string, known: readonly string[]): string | undefined =>
  known.find(name => isSlip(given, name));

/** Finds the known name in another spelling: `FirstName`, `first_name` or `first-name` for `firstName`. */
export const otherSpelling = (given: string, known: readonly string[]): string | undefined =>
  known.find(name => name !== given && lettersOf(name) === lettersOf(given));

const lettersOf = (name: string): string => name.replace(/[_-]/g, '').toLowerCase();

/** One letter too many, too few, wrong or swapped, or other capitals. */
function isSlip(given: string, known: string): boolean {
  const [a, b] = [given.toLowerCase(), known.toLowerCase()];
  let start = 0;
  while (start < a.length && a[start] === b[start]) start++;
  const restA = a.slice(start);
  const restB = b.slice(start);
  const swapped = restA[0] === restB[1] && restA[1] === restB[0];
  return (
    restA.slice(1) === restB ||
    restA === restB.slice(1) ||
    restA.slice(1) === restB.slice(1) ||
    (swapped && restA.slice(2) === restB.slice(2))
  );
}
