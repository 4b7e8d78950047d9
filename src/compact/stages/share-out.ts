/** Share out room: each gets what it needs up to an equal share of what is left, so the small ones stay whole. */
export function shareOut(needs: readonly number[], room: number): readonly number[] {
  const shares = needs.map(() => 0)
  const order = needs.map((_, at) => at).sort((a, b) => (needs[a] ?? 0) - (needs[b] ?? 0) || a - b)
  let left = Math.max(0, room)
  for (const [done, at] of order.entries()) {
    const share = Math.min(needs[at] ?? 0, Math.floor(left / (order.length - done)))
    shares[at] = share
    left -= share
  }
  return shares
}
