import { existsSync, type FSWatcher, watch } from "node:fs"
import { basename, join } from "node:path"

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
  const watchers = new Map<string, FSWatcher>()
  // A folder that comes later, or is gone and back, is watched from the next poll on.
  const start = (): void => {
    if (directory === undefined) return
    for (const path of [directory, join(directory, "keys")]) if (!watchers.has(path)) watchPath(watchers, path, soon)
  }
  start()
  const poll = setInterval(() => {
    start()
    act()
  }, pollMs)
  poll.unref()
  return () => {
    clearTimeout(quiet)
    clearInterval(poll)
    for (const watcher of watchers.values()) watcher.close()
  }
}

/** Where nobody can watch, polling has to do. */
function watchPath(watchers: Map<string, FSWatcher>, path: string, changed: () => void): void {
  try {
    const watcher = watch(path, { persistent: false }, (event, name) => {
      // The folder itself was moved or deleted: another one of its name is another folder.
      if (event === "rename" && (name === null || name === basename(path)) && !existsSync(path)) end()
      changed()
    })
    const end = (): void => {
      watcher.close()
      if (watchers.get(path) === watcher) watchers.delete(path)
    }
    watcher.on("error", end)
    watchers.set(path, watcher)
  } catch {
    // Nothing is there to watch.
  }
}
