import { fold } from "./clean.ts"
import type { Leaf } from "./leaf.ts"
import { isSecretPath } from "./secret-path.ts"

/** No system takes a longer path. */
const maxPath = 4_096

export type Access = "read" | "write" | "delete" | "unknown"

/** A file that a call names. */
export type PathFact = {
  /** One spelling for each place: forward slashes, no dots, `~` for a home directory. */
  readonly path: string
  readonly access: Access
  readonly secret: boolean
  readonly glob: boolean
}

const homes =
  /^(?:\$home|\$\{home\}|%userprofile%|%homepath%|\$env:userprofile|~[a-z_][\w-]*|\/root|\/var\/root|\/home\/[^/*?[]+|\/users\/[^/*?[]+|\/home\/[*?]+|\/users\/[*?]+|[a-z]:\/users\/[^/]+)(?=\/|$)/i

/** A path in one spelling. A way up out of a relative path stays, as `../`. */
export function normalPath(written: string): string {
  const bare = written
    .trim()
    .replace(/^["'`]+|(?<!["'`])["'`]+$/g, "")
    .replace(/^(?:file:\/\/(?:localhost)?|@)(?=[/~.])/i, "")
    .replace(/^\\\\\?\\/, "")
    .replace(/::\$data$/i, "")
    .replaceAll("\\", "/")
    .replace(/^\/?(?:proc\/(?:self|thread-self|\d+)\/root)(?=\/)/i, "")
  const rooted = /^(?:\/|[a-z]:\/)/i.test(bare)
  const kept: string[] = []
  for (const name of bare.split("/")) {
    if (name === "" || name === ".") continue
    if (name !== "..") kept.push(name)
    else if (kept.length > 0 && kept.at(-1) !== "..") kept.pop()
    else if (!rooted) kept.push("..")
  }
  const joined = `${bare.startsWith("/") ? "/" : ""}${kept.join("/")}`
  return joined.replace(homes, "~")
}

/** Where a path may lead: as written, and for one that climbs out, from the root. */
export function placesOf(path: string): readonly string[] {
  const climbed = /^(?:\.\.\/)+/.exec(path)
  return climbed === null ? [path] : [path, `/${path.slice(climbed[0].length)}`, path.slice(climbed[0].length)]
}

export function pathFact(written: string, access: Access): PathFact {
  const path = normalPath(written.slice(0, maxPath))
  const folded = fold(path)
  const secret = placesOf(folded).some(isSecretPath)
  return { path, access, secret, glob: /[*?[]/.test(path) }
}

const pieces = /[^\s"'`<>|;,()=&]+/g
const rootedWord = /^(?:[/~\\]|\.{1,2}[/\\]|\$\{?home|%\w+%|[a-z]:[/\\]|file:)/i

/** Words repeat from call to call; strange ones do not, so only so many are remembered. */
const known = new Map<string, boolean>()
const maxKnown = 5_000

/** Is a bare word the name of a file that holds secrets? */
function isSecretWord(word: string): boolean {
  const met = known.get(word)
  if (met !== undefined) return met
  const secret = isSecretPath(normalPath(word).toLowerCase())
  if (known.size < maxKnown && word.length <= 32) known.set(word, secret)
  return secret
}

/** Does a word of a text look like a file? */
function isPathWord(word: string): boolean {
  if (word.length < 2 || /^[a-z][a-z\d+.-]*:\/\//i.test(word) === true) return /^file:/i.test(word)
  if (rootedWord.test(word)) return /[\w*?]/.test(word)
  return /[/\\]/.test(word) || isSecretWord(word)
}

/** The files that a value names: a field for a path is one as a whole, and any other text has some among its words. */
function pathsIn({ role, text, value }: Leaf): readonly string[] {
  if (typeof value !== "string" || text === "") return []
  if (role === "path")
    return text.length <= maxPath ? text.split(/[\n;]+|,(?=\s*[/~.])/).filter((one) => one.trim() !== "") : []
  if (role === "body" || role === "subject" || role === "recipient" || role === "sender") return []
  return (text.match(pieces) ?? [])
    .map((word) => word.slice(0, maxPath).replace(/(?<![.:])[.:]+$/, ""))
    .filter(isPathWord)
}

/** The files that a call names outside of shell commands, which say more about them. */
export function pathsOf(leaves: readonly Leaf[], access: Access): readonly PathFact[] {
  const from = leaves.find(({ keys }) =>
    /^(?:cwd|workdir|working_dir(?:ectory)?|root|base_dir|dir|directory|folder)$/.test(keys.at(-1) ?? ""),
  )?.text
  return leaves.flatMap((leaf) =>
    pathsIn(leaf).flatMap((written) => {
      const fact = pathFact(written, access)
      const relative = from !== undefined && from !== written && !/^(?:[/~]|[a-z]:)/i.test(fact.path)
      return relative ? [fact, pathFact(`${from}/${written}`, access)] : [fact]
    }),
  )
}
