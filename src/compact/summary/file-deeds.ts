import { oneLine } from "./line.ts"

/** Something done to one file. `path` is empty for the file that was opened last. */
export type FileDeed = { readonly path: string; readonly deed: "created" | "edited" | "deleted" | "read" }

/** How much of a patch or script is read for the files that it names. */
const maxRead = 60_000

/** Files that one call is read to touch. */
const maxFiles = 24

const maxPathLength = 200

const patchHeads: readonly (readonly [RegExp, FileDeed["deed"]])[] = [
  [/^\*\*\* Add File: (\S.{0,300})$/, "created"],
  [/^\*\*\* Update File: (\S.{0,300})$/, "edited"],
  [/^\*\*\* Delete File: (\S.{0,300})$/, "deleted"],
  [/^\+\+\+ b\/(\S.{0,300})$/, "edited"],
]

/** The files that a patch names, in the form of `apply_patch` or of a unified diff. */
export function filesInPatch(text: string): readonly FileDeed[] {
  if (!/^(?:\*\*\*|\+\+\+) /m.test(text.slice(0, maxRead))) return []
  const found: FileDeed[] = []
  for (const line of text.slice(0, maxRead).split("\n")) {
    for (const [head, deed] of patchHeads) {
      const path = head.exec(line)?.[1]
      if (path !== undefined && found.length < maxFiles) found.push({ path: oneLine(path, maxPathLength), deed })
    }
  }
  return found
}

const path = `(["']?)([\\w@~./+-]{2,200})\\1`
const printing = "(?:^|[\\s;&|])(?:cat|echo|printf|tee)\\s[^>|\\n]{0,400}"
const writes = new RegExp(`${printing}(?<!>)>(?!>)\\s{0,3}${path}`, "g")
const appends = new RegExp(`${printing}>>\\s{0,3}${path}`, "g")
const teed = new RegExp(`\\|\\s{0,3}tee\\s{1,3}(?:-a\\s{1,3})?${path}`, "g")
const removes = new RegExp(`(?:^|[;&|\\n]\\s{0,3})(?:git )?rm\\s{1,3}(?:-\\w{1,4}\\s{1,3})?${path}`, "g")
const streams = new RegExp(
  `(?:^|[;&|\\n]\\s{0,3})sed\\s{1,3}-i\\S{0,6}\\s[^\\n;&|]{0,400}?\\s${path}\\s{0,3}(?:$|[;&|\\n])`,
  "g",
)

/** How much of a script is read: what it does to files stands near its start or in its patch. */
const maxShell = 2_000

/** Words in quotes: what is printed, not where to. */
const quotedWords = /'[^'\n]{0,600}'|"[^"\n]{0,600}"/g

/** A shell can do anything; these are the ways in which agents write, change and delete files with one. */
export function filesInCommand(command: string): readonly FileDeed[] {
  const text = command.slice(0, maxRead)
  const patched = filesInPatch(text)
  if (patched.length > 0) return patched
  const head = text.slice(0, maxShell).replace(quotedWords, (quotation) => (/[\s>]/.test(quotation) ? "_" : quotation))
  const found: FileDeed[] = []
  const look = (pattern: RegExp, deed: FileDeed["deed"]): void => {
    for (const { 2: named = "" } of head.matchAll(pattern)) {
      if (named.startsWith("/dev/") || /^[\d&]+$/.test(named) || found.length >= maxFiles) continue
      found.push({ path: named, deed })
    }
  }
  look(writes, "created")
  look(appends, "edited")
  look(teed, "created")
  look(streams, "edited")
  look(removes, "deleted")
  return found
}
