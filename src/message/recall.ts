import type { Message, Transcript } from "./message.ts"

/** What was made of a transcript, and how many messages from the first on are the same objects in the one that it is asked for. */
type Recalled<Made> = { readonly made: Made; readonly of: Transcript; readonly common: number }

type Recall<Made> = {
  /** What was kept for the transcript that has most in common with this one, from its first message on. */
  readonly find: (messages: Transcript, fits?: (made: Made) => boolean) => Recalled<Made> | undefined
  readonly keep: (messages: Transcript, made: Made) => void
}

/** A request is read as it came and as it is named, and a compacted view of it may begin with the same message. */
const maxKept = 3

/**
 * Keeps what was made of transcripts, so that of one which goes on only what is new costs. It goes by objects: the same message is the
 * same object, and what is kept goes with the first message.
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
      // A copy: whoever made the list may go on with it.
      kept.set(first, [{ of: [...messages], made }, ...others].slice(0, maxKept))
    },
  }
}

/** Makes something of an object once, and keeps it as long as the object lives. It is made again where what is given beside it is another. */
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

/** Remembers what was made of the newest texts, for a reading that is asked for again and costs more than looking it up. */
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

/** Longer texts are not kept: a thousand texts of this length are 8 MB. */
const maxUnits = 8_000

/** Set an entry as the newest of a map, and drop the oldest above a limit. */
export function setNewest<Key, Value>(map: Map<Key, Value>, key: Key, value: Value, limit: number): void {
  map.delete(key)
  map.set(key, value)
  for (const oldest of map.keys()) {
    if (map.size <= limit) return
    map.delete(oldest)
  }
}
