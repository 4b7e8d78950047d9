import { anyOf } from "../../language/word-lists.ts"
import { createRecent } from "../../message/recall.ts"
import type { Leaf } from "./leaf.ts"
import words from "./secret-words.json" with { type: "json" }
import lists from "./words.json" with { type: "json" }
import { fold, globMatches } from "./words.ts"

/** Maximum length of a path in characters; no system accepts a longer one. */
const maxPath = 4_096

export type Access = "read" | "write" | "delete" | "unknown"

/** A file that a call names. */
export type PathFact = {
  /** Normalized path: forward slashes, no dots, `~` for a home directory. */
  readonly path: string
  readonly access: Access
  readonly secret: boolean
  readonly glob: boolean
  /** Set if everything below it is used as well; `secrets` if secrets there are likely to be searched for or copied. */
  readonly tree?: "files" | "secrets"
  /** Set if it is given to an unknown program, which reads it and may change it. */
  readonly mayChange?: true
  /** Set if it is created or overwritten: its former content is not read. */
  readonly isFresh?: true
}

const homes =
  /^(?:\$home|\$\{home\}|%userprofile%|%homepath%|\$env:userprofile|~[a-z_][\w-]*|\/root|\/var\/root|\/home\/[^/*?[]+|\/users\/[^/*?[]+|\/home\/[*?]+|\/users\/[*?]+|[a-z]:\/users\/[^/]+)(?=\/|$)/i

/** Normalizes a path. A way up out of a relative path stays, as `../`. */
export function normalPath(written: string): string {
  const bare = written
    .trim()
    .replace(/^["'`]+|(?<!["'`])["'`]+$/g, "")
    .replace(/^(?:file:(?:\/\/(?:localhost)?)?|[a-z][a-z\d+.-]*:\/\/file|@)(?=[/~.])/i, "")
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

/** Places that a path may lead to: as written, and for one that climbs out, from the root too. */
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

/** True if a bare word is the name of a file that holds secrets. Short words are cached, because they repeat from call to call. */
const isSecretName = (word: string): boolean => isSecretPath(normalPath(word).toLowerCase())
const isSecretShort = createRecent(isSecretName, 5_000)
const isSecretWord = (word: string): boolean => (word.length <= 32 ? isSecretShort : isSecretName)(word)

/** True if a word of a text looks like a file. */
function isPathWord(word: string): boolean {
  if (word.length < 2 || /^[a-z][a-z\d+.-]*:\/\//i.test(word) === true)
    return /^file:|^[a-z][a-z\d+.-]*:\/\/file\//i.test(word)
  if (rootedWord.test(word)) return /[\w*?]/.test(word)
  return /[/\\]/.test(word) || isSecretWord(word)
}

/** Files that a value names: a field for a path is one as a whole, any other text may have some among its words. */
function pathsIn({ role, text, value }: Leaf): readonly string[] {
  if (typeof value !== "string" || text === "") return []
  if (role === "path")
    return text.length <= maxPath ? text.split(/[\n;]+|,(?=\s*[/~.])/).filter((one) => one.trim() !== "") : []
  // Programs are read separately, which says more about their files.
  if (role === "code" || role === "sql" || role === "command" || role === "patch") return []
  if (role === "body" || role === "subject" || role === "recipient" || role === "sender") return []
  return (text.match(pieces) ?? [])
    .map((word) => word.slice(0, maxPath).replace(/(?<![.:])[.:]+$/, ""))
    .filter(isPathWord)
}

/** Matches fields for the folder in which a command is run, or that contains a file. */
export const folderField =
  /^(?:cwd|workdir|working_?dir(?:ectory)?|dir|dir_path|directory|folder|(?:\w+_)?(?:root|base|base_?(?:dir|path|folder)|root_?(?:dir|path|folder)|mount))$/

/** Matches fields for the source of a copy. */
const sourceField = /^(?:source|src|from|(?:source|src|from)_?(?:path|file|dir|directory|folder))$/

/** Files that a call names outside of shell commands, which are read separately. */
export function pathsOf(leaves: readonly Leaf[], access: Access, isCopy = false): readonly PathFact[] {
  const from = leaves.find(({ field }) => folderField.test(field))?.text
  return leaves.flatMap((leaf) =>
    pathsIn(leaf).flatMap((written) => {
      const own = isCopy && sourceField.test(leaf.field) ? "read" : access
      const fact = pathFact(written, own)
      const relative = from !== undefined && from !== written && !/^(?:[/~]|[a-z]:)/i.test(fact.path)
      return relative ? [fact, pathFact(`${from}/${written}`, own)] : [fact]
    }),
  )
}

/** Matches the line of a patch that names a file. */
export const patchHeader =
  /^(?:\*\*\* (?:Update|Add|Delete) File: |\*\*\* Move to: |(?:---|\+\+\+) (?:[ab]\/)?|diff --git a\/|rename (?:from|to) )(.+)$/gm

/** Files that a patch changes, as its headers name them. */
export const patchedFiles = (text: string): readonly string[] =>
  [...text.matchAll(patchHeader)].flatMap(([, path = ""]) => {
    const bare = (path.replace(/\t.*$/, "").split(" b/")[0] ?? "").trim()
    return bare === "" || bare === "/dev/null" ? [] : [bare]
  })

/** Text that a patch writes into each file: the lines that it adds. */
export function patchedTexts(text: string): readonly { readonly path: string; readonly text: string }[] {
  const heads = [...text.matchAll(patchHeader)]
  return heads.flatMap((head, at) => {
    const [path] = patchedFiles(head[0])
    const lines = text.slice(head.index + head[0].length, heads[at + 1]?.index ?? text.length).split("\n")
    const added = lines.filter((line) => line.startsWith("+")).map((line) => line.slice(1))
    return path === undefined || added.length === 0 ? [] : [{ path, text: added.join("\n") }]
  })
}

const namesOfSecretFiles = anyOf(
  "id_(?:rsa|dsa|ecdsa|ed25519)(?:_sk)?(?:[._-](?!pub$)[\\w.-]+)?|\\.env(?:rc)?",
  `\\.env\\.(?!${anyOf(words.sampleEndings)})[\\w.-]+`,
  words.secretFiles,
  `[\\w.-]*\\.${anyOf(words.keyEndings)}`,
  "credentials",
  `[\\w.-]*${anyOf(words.secretWords)}(?:\\.${anyOf(words.secretFileEndings)})+`,
  "host_\\w+_key|ssh_host_[\\w]+_key",
)
const secretNames = new RegExp(`^${namesOfSecretFiles}$`)

const loginPlaces = anyOf(
  words.loginFiles,
  `config/${anyOf(words.loginFilesOfConfig)}`,
  "local/share/(?:keyrings|opencode/auth\\.json|kwalletd)\\S*",
  "(?:bash|zsh|psql|mysql|python|node_repl|rediscli)_?history|histfile",
)
/** Matches secret files by their directory, except the ones named here. */
const secretPlaces: readonly RegExp[] = [
  /(?:^|\/)\.ssh\/(?!(?:known_hosts|config|authorized_keys)(?:\.old)?$|[^/]*\.pub$)[^/]+/,
  /(?:^|\/)\.(?:gnupg|password-store)\/[^/]+/,
  /(?:^|\/)\.aws\/(?:credentials|sso|cli\/cache)/,
  /(?:^|\/)\.azure\/\w*(?:token|profile|credential)/,
  /(?:^|\/)\.config\/(?:gcloud|gh|hub|doctl|op)\//,
  /(?:^|\/)\.kube\/config/,
  // Files in which programs keep the credentials of their users.
  new RegExp(`(?:^|/)\\.${loginPlaces}`),
  /(?:^|\/)\.docker\/config\.json$/,
  /(?:^|\/)(?:\.mozilla\/firefox|firefox\/profiles|google-chrome|chromium|brave[\w-]*|microsoft-edge|google\/chrome)\/(?:\S*\/)?(?:logins?|key\d|cookies|signons|login data|web data)[\w.]*$/,
  /^\/etc\/(?:g?shadow-?|sudoers(?:\.d\/.*)?|ssl\/private\/.*|kubernetes\/.*\.conf|krb5\.keytab)$/,
  /^\/(?:var\/)?run\/secrets\//,
  /^\/proc\/(?:self|thread-self|\d+|\*)\/(?:environ|mem)$/,
  /(?:^|\/)keychains?\//,
  /(?:^|\/)(?:sam|system|security)$(?<=\/config\/\w+)/,
]

/** Matches names of files that are about secrets and hold none. */
const harmless =
  /(?:^|\/)(?:[\w-]*(?:cert|chain|bundle|public)[\w-]*|ca)\.pem$|\.(?:pub|md|rst|html?|tsx?|jsx?|py|go|rs|java|rb|php|cs|c|h|cpp|css|scss|svg|png|test\.\w+)$|(?:^|\/)etc\/passwd$/

/** Names of secret files that a glob may match. */
const likely: readonly string[] = lists.secretFiles.names

const likelyPlaces: readonly string[] = lists.secretFiles.paths

/** True if a normalized path in lower case holds what only its owner should read: keys, credentials, tokens, password stores. */
function isSecretPath(path: string): boolean {
  const name = path.slice(path.lastIndexOf("/") + 1)
  if (/[*?[]/.test(path)) return isSecretGlob(path, name)
  if (secretPlaces.some((place) => place.test(path))) return true
  if (/(?:^|\/)\.(?:ssh|aws|gnupg|password-store)$/.test(path)) return true
  return (secretNames.test(name) || /(?:^|\/)(?:secrets|private[_-]?keys)\/[^/]+$/.test(path)) && !harmless.test(path)
}

const plainFolder =
  /^(?:\.\/)?(?:\.(?:github|gitlab|circleci|vscode|husky)\/)?(?!\S*(?:secret|cred|conf|key|priv|deploy|env|auth|token|cert|vault|pass|[*?[]\S*\/))[a-z\d]\S*\//

function isSecretGlob(path: string, name: string): boolean {
  if (path.length > 1_000) return true
  if (secretPlaces.some((place) => place.test(path.replace(/[*?]+/g, "x")))) return true
  if (likelyPlaces.some((place) => path.startsWith(place[0] ?? "") && globMatches(path, place))) return true
  if (!/[*?[]/.test(name)) return secretNames.test(name) && !harmless.test(path)
  // All files with a common ending in a folder of the project whose name is harmless.
  if (/^\*+\.(?:json|ya?ml|toml|txt)$/.test(name) && plainFolder.test(path)) return false
  const telling = name.replace(/[^a-z\d]/g, "").length >= 2 || (name.startsWith(".") && name.length > 2)
  return telling && /[*?[]/.test(name) && likely.some((secret) => globMatches(name, secret))
}
