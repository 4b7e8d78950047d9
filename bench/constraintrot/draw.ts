/** Returns a number from 0 up to 1 that depends on the key alone, so that every draw of an episode can be repeated in any order. */
export function draw(...key: readonly (string | number)[]): number {
  const text = key.join("\u0000")
  let state = 0x811c9dc5
  for (let at = 0; at < text.length; at++) state = Math.imul(state ^ text.charCodeAt(at), 0x01000193)
  state = Math.imul(state ^ (state >>> 16), 0x85ebca6b)
  state = Math.imul(state ^ (state >>> 13), 0xc2b2ae35)
  return ((state ^ (state >>> 16)) >>> 0) / 2 ** 32
}

/** Returns one element of a list, chosen by the key. */
export function drawFrom<Value>(list: readonly Value[], ...key: readonly (string | number)[]): Value {
  const found = list[Math.floor(draw(...key) * list.length)]
  if (found === undefined) throw new Error("nothing to draw from")
  return found
}
