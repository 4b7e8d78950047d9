import { oneLine } from "../summary/summary.ts"

/** Something done to one file. `path` is empty for the file that was opened last. */
export type FileDeed = {
  readonly path: string
  /** `undone` takes back the latest change, `restored` all of them. */
  readonly deed: "created" | "edited" | "deleted" | "undone" | "restored" | "read"
  readonly change?: FileChange
  /** All that stands in it afterwards, where the call says that. */
  readonly content?: string
  /** What one edit took out, and what it put in its place. */
  readonly swap?: { readonly old: string; readonly fresh: string }
}

/** What changed in a file: lines, and the functions, classes, sections or selectors that they belong to. */
export type FileChange = { readonly added: number; readonly removed: number; readonly names: readonly string[] }

/** What another compaction left in the place of a text. */
export const placeholder =
  /^\s{0,8}[[(<][^\n[\]()<>]{0,160}\b(?:evicted|elided|cleared|omitted|removed|truncated|compacted|offloaded)\b[^\n[\]()<>]{0,160}[\])>]\s{0,8}$/i

/** How much of a patch or script is read for the files that it names. */
const maxRead = 60_000
/** Files that one call is read to touch. */
const maxFiles = 24
const maxPathLength = 200
/** Names told of one change: the first say what it is about. */
const maxNames = 6
const maxNameLength = 48
/** Lines that are looked at for names: a file of data has none further on. */
const maxLines = 400

/** What a line defines: a function, a class, a heading, a rule of a style sheet, a key. */
const definitions: readonly RegExp[] = [
  /^\s*(?:export\s+)?(?:default\s+)?(?:pub(?:\(\w+\))?\s+)?(?:public\s+|private\s+|protected\s+|static\s+)*(?:async\s+)?(?:abstract\s+)?(?:function\*?|class|interface|enum|struct|trait|impl|def|fn|func|fun|module|namespace|type)\s+([\p{L}_$][\p{L}\p{N}_$.]{1,60})/u,
  /^\s*(?:export\s+)?(?:const|let|var|val)\s+([\p{L}_$][\p{L}\p{N}_$]{1,60})\s*(?::[^=\n]{1,60})?=/u,
  /^#{1,5}\s+(\S.{1,60})$/,
  /^\s*(?:async\s+)?([\p{L}_$][\p{L}\p{N}_$]{1,60})\([^()\n]{0,120}\)\s*(?::[^{}\n]{1,60})?\{\s*$/u,
  /^([.#@]?[a-zA-Z][\w .#:>-]{1,60}?)\s*\{\s*$/,
]
const keywords = /^(?:if|for|while|switch|catch|return|else|elif|with|match|loop|do|try)$/

/** The names that these lines define, each once. */
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

/** What every file of its kind begins with. */
const preamble =
  /^\s*(?:import\b|from\s\S+\s+import\b|using\s|use\s["']|#include\b|package\s|require\b|const\s.{1,80}=\s*require\(|<!doctype|<\/?html|<\/?head|<\/?body|<meta\b|<\?|#!|["']use strict|-{3,}\s*$|={3,}\s*$)/i

/** Lines of a change that tell something by themselves: where it defines nothing, their first words stand for it. */
function firstWords(lines: readonly string[], most = 1): readonly string[] {
  const words = lines.filter(
    (line) => /[\p{L}\p{N}]{3}/u.test(line) && line.trim().length > 5 && !placeholder.test(line),
  )
  const telling = words.filter((line) => !preamble.test(line) && !/[[({]\s*$/.test(line))
  return (telling.length > 0 ? telling : words)
    .slice(0, most)
    .map((line) => oneLine(line.trim().replaceAll("`", "'"), maxNameLength))
}

/** What a change of one text for another comes to. */
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

/** What became of a file that was written again as a whole: of what stayed as it was nothing is told, and of what is gone no name is left. */
export function rewriteOf(before: string, after: string): FileChange & { readonly gone: readonly string[] } {
  const [old, fresh] = [linesOf(before), linesOf(after)]
  const { added, removed } = linesChanged(old, fresh)
  const names = namesIn([...added, ...removed])
  return {
    ...{ added: added.length, removed: removed.length },
    names: names.length > 0 ? names : firstWords(added.length > 0 ? added : removed, maxRows),
    gone: goneIn({ old: before, fresh: after }),
  }
}

/** What an edit takes out, by the names under which it was told when it was put in. */
export function goneIn({ old, fresh }: NonNullable<FileDeed["swap"]>): readonly string[] {
  const { added, removed } = linesChanged(linesOf(old), linesOf(fresh))
  const namesOf = (lines: readonly string[]): readonly string[] =>
    lines.slice(0, maxLines).flatMap((line) => [...namesIn([line]), ...firstWords([line])])
  const stay = new Set(namesOf(added))
  return namesOf(removed).filter((name) => !stay.has(name))
}

/** New rows of a table or list that are told of one rewrite. */
const maxRows = 3

function linesChanged(
  old: readonly string[],
  fresh: readonly string[],
): { readonly added: readonly string[]; readonly removed: readonly string[] } {
  const [kept, known] = [new Set(fresh), new Set(old)]
  return { added: fresh.filter((line) => !known.has(line)), removed: old.filter((line) => !kept.has(line)) }
}

const linesOf = (text: string): readonly string[] => (text === "" ? [] : text.slice(0, maxRead).split("\n"))

/** Two changes of one file as one: the newest names, without those of what the newer one took out. */
export function joinChanges(
  older: FileChange | undefined,
  newer: FileChange | undefined,
  gone: readonly string[] = [],
): FileChange | undefined {
  if (older === undefined || newer === undefined) return newer ?? older
  const isGone = (name: string): boolean =>
    gone.some((one) => one === name || (one.length >= leastGone && name.includes(one)))
  const stay = older.names.filter((name) => !isGone(name))
  // What was put in before and is taken out now was never there.
  const fresh = newer.names.filter((name) => !(gone.includes(name) && older.names.includes(name)))
  const all = [...new Set([...fresh, ...stay])]
  const telling = all.filter((name) => !preamble.test(name))
  const names = (telling.length > 0 ? telling : all).slice(0, 2 * maxNames)
  return { added: older.added + newer.added, removed: older.removed + newer.removed, names }
}

/** Part of a line in fewer characters may stand in other lines as well. */
const leastGone = 8

/** `+12 −4: parseDate, formatDate`. */
export function changeText({ added, removed, names: all }: FileChange, most = 2 * maxNames): string {
  const names = all.slice(0, most)
  const lines = [added > 0 ? `+${added}` : "", removed > 0 ? `−${removed}` : ""].filter((count) => count !== "")
  const count = lines.length === 0 ? "no line" : lines.join(" ")
  return names.length === 0 ? count : `${count}: ${names.map((name) => name.replaceAll(", ", " ")).join(", ")}`
}

/** Read what `changeText` wrote. */
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

/** The files that a patch names and what it does to each, in the form of `apply_patch` or of a unified diff. */
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

/** How much of a script is read: what it does to files stands near its start or in its patch. */
const maxShell = 2_000

/** Words in quotes: what is printed, not where to. */
const quotedWords = /'[^'\n]{0,600}'|"[^"\n]{0,600}"/g

/** A shell can do anything; these are the ways in which agents read, write, change, move and delete files with one. */
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
  for (const { 2: path = "" } of head.matchAll(writes)) note(path, "created", typedInto(text))
  for (const { 2: path = "" } of head.matchAll(appends)) note(path, "edited", typedInto(text))
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
  // A name with neither folder nor ending is as likely a word of the command.
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

/** Files that a program writes, by their names or by variables that hold them. */
export function filesInProgram(program: string): readonly FileDeed[] {
  const text = program.slice(0, maxRead)
  const values = new Map([...text.matchAll(assigned)].map(([, name = "", , value = ""]) => [name, value]))
  const paths = [...text.matchAll(writesIn)].flatMap((found) => {
    const path = found[2] ?? found[5] ?? found[8] ?? values.get(found[3] ?? found[6] ?? found[9] ?? "")
    return path === undefined || !/[/.]/.test(path) ? [] : [path]
  })
  return [...new Set(paths)].slice(0, maxFiles).map((path): FileDeed => ({ path, deed: "edited" }))
}

/** What stands between `<<EOF` and its end. */
function typedInto(command: string): string | undefined {
  const found = /<<-?\s{0,3}(["']?)(\w{1,40})\1[^\n]{0,200}\n/.exec(command)
  if (found === null) return undefined
  const start = found.index + found[0].length
  const end = command.indexOf(`\n${found[2]}`, start)
  return command.slice(start, end < 0 ? undefined : end)
}
