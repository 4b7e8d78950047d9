/** Where one thing that a line says ends and the next begins. */
const joints =
  /[.;!?]\s+|[,:]\s|[。；！？，：、]|\n|\s[-–—]\s|\s(?:and(?: then)?|then|but|und|dann|sowie|et|puis|y|luego|e|и|затем)\s|(?:并且|然后|并|且|以及)/giu

/** Clauses looked at of one line; a line of a summary has a few, and what is left over goes with the last. */
const maxClauses = 24

/** The things that a line says, each by itself: a harmless half must not speak for the other. */
export function clausesOf(line: string): readonly string[] {
  const clauses: string[] = []
  let start = 0
  for (const { 0: joint, index } of line.matchAll(joints)) {
    if (clauses.length === maxClauses - 1) break
    clauses.push(line.slice(start, index))
    start = index + joint.length
  }
  clauses.push(line.slice(start))
  return clauses.filter((clause) => /\p{L}/u.test(clause))
}
