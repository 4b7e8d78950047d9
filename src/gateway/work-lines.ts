/** What is done for each session after its requests were answered, one thing after the other, and beside those of other sessions. */
export type WorkLines = {
  /** Ends when the work has been done; what goes wrong in it is told, and breaks nothing. */
  readonly add: (line: string, work: () => Promise<void>) => Promise<void>
  readonly waiting: (line: string) => number
  /** Ends when all work of a line that is known now has been done. */
  readonly idle: (line: string) => Promise<void>
  readonly allIdle: () => Promise<void>
}

type Line = { tail: Promise<void>; waiting: number }

export function createWorkLines(onFault: (error: unknown) => void): WorkLines {
  const lines = new Map<string, Line>()
  return {
    add: (name, work) => {
      const line = lines.get(name) ?? { tail: Promise.resolve(), waiting: 0 }
      lines.set(name, line)
      line.waiting++
      line.tail = line.tail
        .then(() => new Promise<void>((resolve) => setImmediate(resolve)))
        .then(work)
        .catch(onFault)
        .finally(() => {
          line.waiting--
          if (line.waiting === 0) lines.delete(name)
        })
      return line.tail
    },
    waiting: (name) => lines.get(name)?.waiting ?? 0,
    idle: async (name) => {
      await lines.get(name)?.tail
    },
    allIdle: async () => {
      while (lines.size > 0) await Promise.all([...lines.values()].map(({ tail }) => tail))
    },
  }
}
