const uuid = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/i

/** Longer ids are looked at up to here. */
const maxId = 300
/** Of letters and digits in one piece: the shortest that providers give are nine. */
const leastPiece = 9
const leastDistinct = 4

/**
 * Is it an id that no two conversations have by chance? Clients and small servers also number their calls (`call_0`, `1`,
 * `functions.read:3`): such ids tell nothing.
 */
export function isRandomId(id: string): boolean {
  const text = id.slice(0, maxId)
  return uuid.test(text) || text.split(/[^A-Za-z0-9]+/).some(isRandomPiece)
}

/** Digits among letters, not only behind them: that would be a name with a number. */
function isRandomPiece(piece: string): boolean {
  if (piece.length < leastPiece || new Set(piece).size < leastDistinct) return false
  const trunk = piece.replace(/\d{1,300}$/, "")
  return /\d/.test(trunk) && /[A-Za-z]/.test(trunk)
}
