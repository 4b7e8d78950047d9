/** An id near this one that nobody has yet. */
export function fresh(taken: ReadonlySet<string>, id: string): string {
  let n = 2
  while (taken.has(`${id}~${n}`)) n++
  return `${id}~${n}`
}
