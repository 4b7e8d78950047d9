import { type FSWatcher, watch } from "node:fs"
import { join } from "node:path"

/** How long it has to be quiet after a change. */
const quietMs = 100
/** Not every disk tells of changes, and a store never does. */
const pollMs = 2000

/** Act soon after something changed below a directory, and every now and then in any case. Keeps no process alive. */
export function watchDirectory(directory: string | undefined, act: () => void): () => void {
  let quiet: NodeJS.Timeout | undefined
  const soon = (): void => {
    clearTimeout(quiet)
    quiet = setTimeout(act, quietMs)
    quiet.unref()
  }
  const watchers =
    directory === undefined ? [] : [directory, join(directory, "keys")].flatMap((path) => start(path, soon))
  const poll = setInterval(act, pollMs)
  poll.unref()
  return () => {
    clearTimeout(quiet)
    clearInterval(poll)
    for (const watcher of watchers) watcher.close()
  }
}

/** Where nobody can watch, polling has to do. */
function start(path: string, changed: () => void): readonly FSWatcher[] {
  try {
    const watcher = watch(path, { persistent: false }, changed)
    watcher.on("error", () => watcher.close())
    return [watcher]
  } catch {
    return []
  }
}
