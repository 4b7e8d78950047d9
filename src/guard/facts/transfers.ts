import { optionValues } from "./options.ts"
import { shortPart } from "./shell-output.ts"
import { unknownPart } from "./shell-words.ts"
import { anyWord } from "./words.ts"

/** Reads commands that copy files between this machine and others: which side is remote says whether something is sent. */

/** Where a word of a command leads: `unknown` if that is known only when it runs. */
type Place = "remote" | "local" | "unknown"

type CopyCommand = {
  /** Match the words before the sources and targets, the last of them the verb; absent if the program only copies. */
  readonly verb?: readonly RegExp[]
  readonly placeOf: (word: string) => Place
  /** Matches options that take the next word as their value, whatever it is. */
  readonly valued: RegExp
}

/** Splits a word before its first part that is not known. */
function knownPart(word: string): { readonly known: string; readonly isWhole: boolean } {
  const parts = [word.indexOf(unknownPart), word.indexOf(shortPart)].filter((at) => at >= 0)
  const end = Math.min(word.length, ...parts)
  return { known: word.slice(0, end), isWhole: end === word.length }
}

/** A place is remote if it is an address with one of these schemes. */
const withScheme =
  (...schemes: readonly string[]) =>
  (word: string): Place => {
    const { known, isWhole } = knownPart(word.toLowerCase())
    if (schemes.some((scheme) => known.startsWith(scheme))) return "remote"
    return !isWhole && schemes.some((scheme) => scheme.startsWith(known)) ? "unknown" : "local"
  }

/** A place is remote if it has a colon before its first slash: `host:path`, `user@host:path`, `rsync://host/path`. */
function withHost(word: string): Place {
  const { known, isWhole } = knownPart(word)
  if (/^[^/]*:/.test(known)) return "remote"
  return isWhole || known.includes("/") ? "local" : "unknown"
}

/** A place may be remote unless it is plainly a path: the first name of others may be that of a service. */
const withAlias = (word: string): Place => (/^(?:[/~]|\.{1,2}(?:\/|$))/.test(word) ? "local" : "unknown")

const buckets = withScheme("gs://", "s3://")
const verbs = {
  copies: /^(?:cp|mv|sync)$/,
  google: /^(?:cp|mv|rsync)$/,
} as const

const copyCommands: Readonly<Record<string, readonly CopyCommand[] | undefined>> = {
  aws: [
    {
      verb: [/^s3$/, verbs.copies],
      placeOf: withScheme("s3://"),
      valued:
        /^--(?:profile|region|output|query|endpoint-url|ca-bundle|include|exclude|page-size|storage-class|acl|content-type)$/,
    },
  ],
  s3cmd: [
    { verb: [verbs.copies], placeOf: withScheme("s3://"), valued: /^(?:-c|--(?:config|include|exclude|region|host))$/ },
  ],
  gsutil: [{ verb: [verbs.google], placeOf: buckets, valued: /^-[ajLzx]$/ }],
  gcloud: [
    {
      verb: [/^storage$/, verbs.google],
      placeOf: buckets,
      valued: /^--(?:project|account|configuration|exclude|storage-class|content-type)$/,
    },
    {
      verb: [/^compute$/, /^scp$/],
      placeOf: withHost,
      valued: /^--(?:project|account|configuration|zone|port|scp-flag|ssh-key-file)$/,
    },
  ],
  rclone: [
    {
      verb: [/^(?:copy|copyto|copyurl|sync|move|moveto|rcat)$/],
      placeOf: withHost,
      valued:
        /^--(?:config|include|exclude|filter|files-from|include-from|exclude-from|filter-from|transfers|checkers|bwlimit|log-file|log-level)$/,
    },
  ],
  azcopy: [
    {
      verb: [/^(?:copy|cp|c|sync|s)$/],
      placeOf: withScheme("http://", "https://"),
      valued: /^--(?:from-to|include-pattern|exclude-pattern|include-path|exclude-path|log-level|cap-mbps)$/,
    },
  ],
  b2: [{ verb: [/^sync$/], placeOf: withScheme("b2://"), valued: /^--(?:threads|include-regex|exclude-regex)$/i }],
  mc: [{ verb: [/^(?:cp|mv|mirror|put|get)$/], placeOf: withAlias, valued: /^(?:-C|--(?:config-dir|attr|exclude))$/ }],
  scp: [{ placeOf: withHost, valued: /^-[cDFiJloPSX]$/ }],
  rsync: [
    {
      placeOf: withHost,
      valued:
        /^-[efBT]$|^--(?:exclude|include|rsh|filter|files-from|include-from|exclude-from|bwlimit|chmod|port|password-file|log-file|timeout|rsync-path|backup-dir|link-dest)$/,
    },
  ],
}

/** Words after the verb of a copy; undefined if it is another command. */
function wordsAfterVerb(words: readonly string[], verb: readonly RegExp[] = []): readonly string[] | undefined {
  const at = words.findIndex((_, start) => verb.every((pattern, step) => pattern.test(words[start + step] ?? "")))
  return at < 0 ? undefined : words.slice(at + verb.length)
}

/**
 * True if the target of a copy is remote, or may be: the last word that is no option and no value of one. A word right before another such
 * word is not the target; of one before an option that cannot be told, because the words behind it may be values.
 */
function mayLeave(words: readonly string[], { placeOf, valued }: CopyCommand): boolean {
  const end = words.indexOf("--")
  const isOption = (at: number): boolean => (end < 0 || at <= end) && /^-./.test(words[at] ?? "")
  const operands = words.flatMap((_, at) =>
    isOption(at) || (isOption(at - 1) && valued.test(words[at - 1] ?? "")) ? [] : [at],
  )
  return operands.some((at, n) => {
    const isTarget = at === words.length - 1 || isOption(at + 1)
    if (!isTarget) return false
    const place = placeOf(words[at] ?? "")
    // A part that is not known may be several words: the sources, too.
    const hasSource = n > 0 || words[at]?.startsWith(unknownPart) === true
    return place !== "local" && hasSource
  })
}

/** Programs for the storage of clouds, and their verbs that only send. */
const storages = /^(?:aws|gsutil|gcloud|s3cmd|rclone|az|mc|b2|doctl|wrangler)$/
const uploads = /^(?:put|pipe|rcat|upload\S*|put-object|streamput)$/

/** True for a command that sends files, or may: to another machine, or to the storage of a cloud. `words` are those after its name. */
export const sendsFiles = (name: string, words: readonly string[]): boolean =>
  copySends(name, words) ?? (storages.test(name) && anyWord(words, uploads))

/** The same, and for copies whose sides cannot be told. */
export const maySendFiles = (name: string, words: readonly string[]): boolean =>
  copySends(name, words) ??
  (sendsFiles(name, words) || (storages.test(name) && anyWord(words, /^(?:cp|mv|sync|copy)$/)))

/** Whether a command that copies files sends any: undefined for one whose sides are not read here. */
function copySends(name: string, words: readonly string[]): boolean | undefined {
  // A server of rsync gives what it is asked for.
  if (name === "rsync" && words.some((word) => /^--(?:daemon|server|sender)/.test(word))) return true
  if (name === "rclone" && words.some((word) => /^(?:rcat|bisync|serve)$/.test(word))) return true
  if (name === "az") return azureSends(words)
  const kinds = Object.hasOwn(copyCommands, name) ? copyCommands[name] : undefined
  for (const kind of kinds ?? []) {
    const operands = wordsAfterVerb(words, kind.verb)
    if (operands !== undefined) return mayLeave(operands, kind)
  }
  return undefined
}

/** Azure names the sides of a copy by options, and each direction of the others by a verb. */
function azureSends(words: readonly string[]): boolean | undefined {
  if (wordsAfterVerb(words, [/^storage$/, /^copy$/]) === undefined) return undefined
  if (words.some((word) => /^--destination-/.test(word))) return true
  const targets = optionValues(words, /^(?:-d|--destination)$|^(?:-d|--destination)=(.*)$/s)
  return targets.length === 0 || targets.some((to) => withScheme("http://", "https://")(to) !== "local")
}
