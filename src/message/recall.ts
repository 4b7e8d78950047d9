import type { Message, Transcript } from "./message.ts"

/** What was computed from a transcript, and the number of its first messages that are the same objects in the transcript asked for. */
type Recalled<Made> = { readonly made: Made; readonly of: Transcript; readonly common: number }

/** A cache of values computed from transcripts. */
type Recall<Made> = {
  /** Returns what was kept for the transcript that has the most first messages in common with this one. */
  readonly find: (messages: Transcript, fits?: (made: Made) => boolean) => Recalled<Made> | undefined
  readonly keep: (messages: Transcript, made: Made) => void
}

/**
 * Maximum number of values per first message: a request is read as it came in and under its final ids, and a compacted view of it may start
 * with the same message.
 */
const maxKept = 3

/**
 * Keeps what was computed from transcripts, so that a continued one only costs what is new. Messages are compared as objects, and kept
 * values are released with the first message.
 */
export function createRecall<Made>(): Recall<Made> {
  const kept = new WeakMap<Message, readonly Omit<Recalled<Made>, "common">[]>()
  return {
    find: (messages, fits = () => true) => {
      let best: Recalled<Made> | undefined
      for (const { of, made } of (messages[0] && kept.get(messages[0])) ?? []) {
        let common = 0
        while (common < of.length && of[common] === messages[common]) common++
        if (common > (best?.common ?? 0) && fits(made)) best = { of, made, common }
      }
      return best
    },
    keep: (messages, made) => {
      const [first] = messages
      if (first === undefined) return
      const others = (kept.get(first) ?? []).filter(({ of }) => !of.every((message, n) => message === messages[n]))
      // A copy, because the caller may extend its list.
      kept.set(first, [{ of: [...messages], made }, ...others].slice(0, maxKept))
    },
  }
}

/** Computes something from an object once, and keeps it as long as the object lives. It is computed again if `beside` differs. */
export function createPerObject<Key extends object, Made, Beside = void>(
  make: (key: Key, beside: Beside) => Made,
): (key: Key, beside: Beside) => Made {
  const kept = new WeakMap<Key, { readonly made: Made; readonly beside: Beside }>()
  return (key, beside) => {
    const known = kept.get(key)
    if (known !== undefined && known.beside === beside) return known.made
    const made = make(key, beside)
    kept.set(key, { made, beside })
    return made
  }
}

/** Caches what was computed from the most recent texts. */
export function createRecent<Made>(make: (text: string) => Made, maxTexts: number): (text: string) => Made {
  const kept = new Map<string, Made>()
  return (text) => {
    const known = kept.get(text)
    if (known !== undefined) return known
    const made = make(text)
    if (text.length > maxUnits) return made
    if (kept.size >= maxTexts) for (const oldest of [...kept.keys()].slice(0, maxTexts / 4)) kept.delete(oldest)
    kept.set(text, made)
    return made
  }
}

/** Maximum length: longer texts are not kept. A thousand texts of this length are 8 MB. */
const maxUnits = 8_000

/** Sets an entry as the newest of a map, and removes the oldest above a limit. */
export function setNewest<Key, Value>(map: Map<Key, Value>, key: Key, value: Value, limit: number): void {
  map.delete(key)
  map.set(key, value)
  for (const oldest of map.keys()) {
    if (map.size <= limit) return
    map.delete(oldest)
  }
}
