/** Gives ids near the ones asked for that nobody has yet; each is taken as soon as it is given. */
export function createFreshIds(ids: Iterable<string>): (near: string) => string {
  const taken = new Set(ids)
  const lastOf = new Map<string, number>()
  return (near) => {
    let n = lastOf.get(near) ?? 1
    let id = near
    while (taken.has(id)) id = `${near}~${++n}`
    lastOf.set(near, n)
    taken.add(id)
    return id
  }
}
