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
