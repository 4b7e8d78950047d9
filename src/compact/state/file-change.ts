import { oneLine } from "../summary/summary.ts"

/** Something done to one file. `path` is empty for the file that was opened last. */
export type FileDeed = {
  readonly path: string
  /** `undone` reverts the latest change, `restored` all of them. */
  readonly deed: "created" | "edited" | "deleted" | "undone" | "restored" | "read"
  readonly change?: FileChange
  /** The whole new content, if the call has it. */
  readonly content?: string
  /** The text that one edit replaced, and its replacement. */
  readonly swap?: { readonly old: string; readonly fresh: string }
}

/** What changed in a file: the number of lines, and the functions, classes, sections or selectors that they belong to. */
export type FileChange = { readonly added: number; readonly removed: number; readonly names: readonly string[] }

/** Text that another compaction left in place of the original. */
export const placeholder =
  /^\s{0,8}[[(<][^\n[\]()<>]{0,160}\b(?:evicted|elided|cleared|omitted|removed|truncated|compacted|offloaded)\b[^\n[\]()<>]{0,160}[\])>]\s{0,8}$/i

/** Maximum number of characters of a patch or script in which file names are looked for. */
const maxRead = 60_000
/** Maximum number of files read from one call. */
const maxFiles = 24
const maxPathLength = 200
/** Maximum number of names of one change: the first ones say what it is about. */
const maxNames = 6
const maxNameLength = 48
/** Maximum number of lines searched for names: a data file has none further on. */
const maxLines = 400

/** Lines that define a function, class, heading, style rule or key. */
const definitions: readonly RegExp[] = [
  /^\s*(?:export\s+)?(?:default\s+)?(?:pub(?:\(\w+\))?\s+)?(?:public\s+|private\s+|protected\s+|static\s+)*(?:async\s+)?(?:abstract\s+)?(?:function\*?|class|interface|enum|struct|trait|impl|def|fn|func|fun|module|namespace|type)\s+([\p{L}_$][\p{L}\p{N}_$.]{1,60})/u,
  /^\s*(?:export\s+)?(?:const|let|var|val)\s+([\p{L}_$][\p{L}\p{N}_$]{1,60})\s*(?::[^=\n]{1,60})?=/u,
  /^#{1,5}\s+(\S.{1,60})$/,
  /^\s*(?:async\s+)?([\p{L}_$][\p{L}\p{N}_$]{1,60})\([^()\n]{0,120}\)\s*(?::[^{}\n]{1,60})?\{\s*$/u,
  /^([.#@]?[a-zA-Z][\w .#:>-]{1,60}?)\s*\{\s*$/,
]
const keywords = /^(?:if|for|while|switch|catch|return|else|elif|with|match|loop|do|try)$/

/** Returns the names that these lines define, each once. */
function namesIn(lines: readonly string[]): readonly string[] {
  const names = new Set<string>()
  for (const line of lines.length > maxLines ? lines.slice(0, maxLines) : lines) {
    if (names.size >= maxNames) break
    for (const definition of definitions) {
      const name = definition.exec(line.slice(0, 200))?.[1]?.trim()
      if (name === undefined || keywords.test(name)) continue
      names.add(oneLine(name, maxNameLength))
      break
    }
  }
  return [...names]
}

/** Usual first lines of a file, which say nothing about a change. */
const preamble =
  /^\s*(?:import\b|from\s\S+\s+import\b|using\s|use\s["']|#include\b|package\s|require\b|const\s.{1,80}=\s*require\(|<!doctype|<\/?html|<\/?head|<\/?body|<meta\b|<\?|#!|["']use strict|-{3,}\s*$|={3,}\s*$)/i

/** Returns the beginnings of the most telling changed lines, for a change that defines no name. */
function firstWords(lines: readonly string[], most = 1): readonly string[] {
  const words = lines.filter(
    (line) => /[\p{L}\p{N}]{3}/u.test(line) && line.trim().length > 5 && !placeholder.test(line),
  )
  const telling = words.filter((line) => !preamble.test(line) && !/[[({]\s*$/.test(line))
  return (telling.length > 0 ? telling : words)
    .slice(0, most)
    .map((line) => oneLine(line.trim().replaceAll("`", "'"), maxNameLength))
}

/** Returns the change from one text to another. */
export function changeOf(before: string, after: string): FileChange {
  const [old, fresh] = [linesOf(before), linesOf(after)]
  const { added, removed } = linesChanged(old, fresh)
  const lines = [...added, ...removed]
  const names = namesIn(lines)
  const around = names.length > 0 ? names : namesIn([...fresh, ...old])
  return {
    ...{ added: added.length, removed: removed.length },
    names: around.length > 0 ? around : firstWords(lines),
  }
}

/** Returns the change of a file that was overwritten whole; `gone` are the names that no longer occur in it. */
export function rewriteOf(before: string, after: string): FileChange & { readonly gone: readonly string[] } {
  const [old, fresh] = [linesOf(before), linesOf(after)]
  const { added, removed } = linesChanged(old, fresh)
  const names = namesIn([...added, ...removed])
  return {
    ...{ added: added.length, removed: removed.length },
    names: names.length > 0 ? names : firstWords(added.length > 0 ? added : removed, maxRows),
    gone: removedNames({ old: before, fresh: after }),
  }
}

/** Returns the names under which removed lines may have been reported when they were added. */
export function removedNames({ old, fresh }: NonNullable<FileDeed["swap"]>): readonly string[] {
  const { added, removed } = linesChanged(linesOf(old), linesOf(fresh))
  const namesOf = (lines: readonly string[]): readonly string[] =>
    lines.slice(0, maxLines).flatMap((line) => [...namesIn([line]), ...firstWords([line])])
  const stay = new Set(namesOf(added))
  return namesOf(removed).filter((name) => !stay.has(name))
}

/** Maximum number of new rows of a table or list shown of one rewrite. */
const maxRows = 3

function linesChanged(
  old: readonly string[],
  fresh: readonly string[],
): { readonly added: readonly string[]; readonly removed: readonly string[] } {
  const [kept, known] = [new Set(fresh), new Set(old)]
  return { added: fresh.filter((line) => !known.has(line)), removed: old.filter((line) => !kept.has(line)) }
}

const linesOf = (text: string): readonly string[] => (text === "" ? [] : text.slice(0, maxRead).split("\n"))

/** Merges two changes of one file: the newest names first, without those that the newer change removed. */
export function joinChanges(
  older: FileChange | undefined,
  newer: FileChange | undefined,
  gone: readonly string[] = [],
): FileChange | undefined {
  if (older === undefined || newer === undefined) return newer ?? older
  const isGone = (name: string): boolean =>
    gone.some((one) => one === name || (one.length >= leastGone && name.includes(one)))
  const stay = older.names.filter((name) => !isGone(name))
  // What one change added and the next removed was never there.
  const fresh = newer.names.filter((name) => !(gone.includes(name) && older.names.includes(name)))
  const all = [...new Set([...fresh, ...stay])]
  const telling = all.filter((name) => !preamble.test(name))
  const names = (telling.length > 0 ? telling : all).slice(0, 2 * maxNames)
  return { added: older.added + newer.added, removed: older.removed + newer.removed, names }
}

/** Minimum length of a removed line that is also looked for inside longer names: a shorter one may occur in other lines. */
const leastGone = 8

/** Formats a change: `+12 −4: parseDate, formatDate`. */
export function changeText({ added, removed, names: all }: FileChange, most = 2 * maxNames): string {
  const names = all.slice(0, most)
  const lines = [added > 0 ? `+${added}` : "", removed > 0 ? `−${removed}` : ""].filter((count) => count !== "")
  const count = lines.length === 0 ? "no line" : lines.join(" ")
  return names.length === 0 ? count : `${count}: ${names.map((name) => name.replaceAll(", ", " ")).join(", ")}`
}

/** Parses the output of `changeText`. */
export function readChange(text: string): FileChange | undefined {
  const found = /^(?:no line|(?:\+(\d{1,7}))?\s?(?:−(\d{1,7}))?)(?:: (.+))?$/.exec(text)
  if (found === null) return undefined
  const names = found[3]?.split(", ") ?? []
  return { added: Number(found[1] ?? 0), removed: Number(found[2] ?? 0), names }
}

const patchHeads: readonly (readonly [RegExp, FileDeed["deed"]])[] = [
  [/^\*\*\* Add File: (\S.{0,300})$/, "created"],
  [/^\*\*\* Update File: (\S.{0,300})$/, "edited"],
  [/^\*\*\* Delete File: (\S.{0,300})$/, "deleted"],
  [/^\+\+\+ (?:b\/)?(\S.{0,300})$/, "edited"],
]
const hunk = /^@@(?:[^@\n]{0,60}@@)?\s?(.*)$/

/** Returns the files in a patch and what it does to each, in the format of `apply_patch` or a unified diff. */
export function filesInPatch(text: string): readonly FileDeed[] {
  if (!/^(?:\*\*\* (?:Add|Update|Delete) File: |\+\+\+ )/m.test(text.slice(0, maxRead))) return []
  const found: { path: string; deed: FileDeed["deed"]; added: string[]; removed: string[]; around: string[] }[] = []
  for (const line of text.slice(0, maxRead).split("\n")) {
    const head = patchHeads.flatMap(([pattern, deed]) => {
      const path = pattern.exec(line)?.[1]
      return path === undefined ? [] : [{ path: oneLine(path.trim(), maxPathLength), deed }]
    })[0]
    if (head !== undefined && found.length < maxFiles) found.push({ ...head, added: [], removed: [], around: [] })
    const file = found.at(-1)
    if (head !== undefined || file === undefined) continue
    const context = hunk.exec(line)?.[1]
    if (context !== undefined) file.around.push(context)
    else if (line.startsWith("+")) file.added.push(line.slice(1))
    else if (line.startsWith("-") && !line.startsWith("---")) file.removed.push(line.slice(1))
  }
  return found.map(({ path, deed, added, removed, around }) => {
    const names = namesIn([...around, ...added, ...removed])
    const change = {
      added: added.length,
      removed: removed.length,
      names: names.length > 0 ? names : firstWords([...added, ...removed]),
    }
    if (deed === "deleted") return { path, deed }
    const isSwap = deed === "edited" && added.length > 0 && removed.length > 0
    return { path, deed, change, ...(isSwap ? { swap: { old: removed.join("\n"), fresh: added.join("\n") } } : {}) }
  })
}

const named = `(["']?)([\\w@~./+-]{2,200})\\1`
const printing = "(?:^|[\\s;&|])(?:cat|echo|printf|tee)\\s[^>|\\n]{0,400}"
const writes = new RegExp(`${printing}(?<!>)>(?!>)\\s{0,3}${named}`, "g")
const appends = new RegExp(`${printing}>>\\s{0,3}${named}`, "g")
const teed = new RegExp(`\\|\\s{0,3}tee\\s{1,3}(?:-a\\s{1,3})?${named}`, "g")
const removes = /(?:^|[;&|\n]\s{0,3})(?:git )?rm\s{1,3}((?:[\w@~./+"'-]{1,200}[ \t]{0,3}){1,24})(?=$|[;&|\n>2])/g
const restores =
  /(?:^|[;&|\n]\s{0,3})git (?:-C \S{1,200} )?(?:checkout(?: [\w./~^-]{1,80})? --|checkout(?= [\w@~/+-]{0,200}\.\w{1,10}(?:\s|$|[;&|]))|restore(?! --staged))\s{1,3}((?:[\w@~./+"'-]{1,200}[ \t]{0,3}){1,24})(?=$|[;&|\n>2])/g
const moves = new RegExp(
  `(?:^|[;&|\\n]\\s{0,3})(?:git )?mv\\s{1,3}(?:-\\w{1,4}\\s{1,3})?${named}\\s{1,3}(["']?)([\\w@~./+-]{2,200})\\3`,
  "g",
)
const reads = new RegExp(
  `(?:^|[;&|\\n]\\s{0,3})(?:cat|head|tail|less|nl|bat|sed -n)\\s(?:[^\\n;&|<>]{0,80}?\\s)?${named}\\s{0,3}(?:$|[;&|\\n])`,
  "g",
)
const streams = new RegExp(
  `(?:^|[;&|\\n]\\s{0,3})sed\\s{1,3}-i\\S{0,6}\\s[^\\n;&|]{0,400}?\\s${named}\\s{0,3}(?:$|[;&|\\n])`,
  "g",
)

/** Maximum number of characters of a script in which file operations are looked for: they stand near its start or in its patch. */
const maxShell = 2_000

/** Quoted words: printed text, not a target. */
const quotedWords = /'[^'\n]{0,600}'|"[^"\n]{0,600}"/g

/** Returns the files that a shell command touches, for the ways in which agents commonly read, write, change, move and delete files. */
export function filesInCommand(command: string): readonly FileDeed[] {
  const text = command.slice(0, maxRead)
  const patched = filesInPatch(text)
  if (patched.length > 0) return patched
  const head = text.slice(0, maxShell).replace(quotedWords, (quotation) => (/[\s>]/.test(quotation) ? "_" : quotation))
  const found: FileDeed[] = []
  const folder = /^\s*cd\s+([\w@~./+-]{1,200})\s*(?:&&|;)/.exec(head)?.[1]
  const note = (name: string, deed: FileDeed["deed"], typed?: string): void => {
    // `a.$n.log` is another file in each round of a loop.
    if (/[.-]$/.test(name) && !/^\.{1,2}$/.test(name)) return
    if (name.startsWith("/dev/") || /^(?:[\d&.-]+|_)$/.test(name) || found.length >= maxFiles) return
    const path =
      folder === undefined || /^[/~]/.test(name) ? name : `${folder.replace(/\/$/, "")}/${name.replace(/^\.\//, "")}`
    const told = typed === undefined ? {} : { change: changeOf("", typed) }
    found.push({ path, deed, ...told, ...(typed === undefined || deed !== "created" ? {} : { content: typed }) })
  }
  for (const { 2: path = "" } of head.matchAll(writes)) note(path, "created", heredocText(text))
  for (const { 2: path = "" } of head.matchAll(appends)) note(path, "edited", heredocText(text))
  for (const { 2: path = "" } of head.matchAll(teed)) note(path, "created")
  for (const { 2: path = "" } of head.matchAll(streams)) note(path, "edited")
  for (const { 1: list = "" } of head.matchAll(removes))
    for (const path of list.trim().split(/\s+/)) if (!path.startsWith("-")) note(path.replace(/["']/g, ""), "deleted")
  for (const { 1: list = "" } of head.matchAll(restores))
    for (const path of list.trim().split(/\s+/))
      if (/^[^-].*[/.]\w/.test(path)) note(path.replace(/["']/g, ""), "restored")
  for (const { 2: from = "", 4: to = "" } of head.matchAll(moves)) {
    note(from, "deleted")
    note(to, "created")
  }
  // A name with neither a folder nor an extension is as likely a word of the command.
  for (const { 2: path = "" } of head.matchAll(reads)) if (/[/.]/.test(path.slice(1))) note(path, "read")
  return found
}

const literal = (group: number): string => `(?:(["'\`])([^"'\`\\n]{1,200})\\${group}|([A-Za-z_]\\w{0,40}))`
const writesIn = new RegExp(
  [
    `\\bopen\\(\\s{0,4}${literal(1)}\\s{0,4},\\s{0,4}(?:mode=)?["'][wax]b?\\+?["']`,
    `(?:^|[\\n;=(\\s])(?:Path\\()?${literal(4)}\\)?\\.write_text\\(`,
    `writeFile(?:Sync)?\\(\\s{0,4}${literal(7)}`,
  ].join("|"),
  "g",
)
const assigned =
  /(?:^|[\n;])\s{0,12}(?:const |let |var )?([A-Za-z_]\w{0,40})\s{0,3}=\s{0,3}(?:\w{0,20}\.?Path\()?(["'`])([^"'`\n]{1,200})\2/g

/** Returns the files that a program writes, by literal names or by variables that hold them. */
export function filesInProgram(program: string): readonly FileDeed[] {
  const text = program.slice(0, maxRead)
  const values = new Map([...text.matchAll(assigned)].map(([, name = "", , value = ""]) => [name, value]))
  const paths = [...text.matchAll(writesIn)].flatMap((found) => {
    const path = found[2] ?? found[5] ?? found[8] ?? values.get(found[3] ?? found[6] ?? found[9] ?? "")
    return path === undefined || !/[/.]/.test(path) ? [] : [path]
  })
  return [...new Set(paths)].slice(0, maxFiles).map((path): FileDeed => ({ path, deed: "edited" }))
}

/** Returns the text between `<<EOF` and its end. */
function heredocText(command: string): string | undefined {
  const found = /<<-?\s{0,3}(["']?)(\w{1,40})\1[^\n]{0,200}\n/.exec(command)
  if (found === null) return undefined
  const start = found.index + found[0].length
  const end = command.indexOf(`\n${found[2]}`, start)
  return command.slice(start, end < 0 ? undefined : end)
}
