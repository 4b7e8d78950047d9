import type { Words } from "../../message/present.ts"
import type { CallFacts } from "../facts/facts.ts"
import { hostName } from "../facts/hosts.ts"
import { normalPath, placesOf } from "../facts/paths.ts"
import { fold, globMatches } from "../facts/words.ts"
import { setReaders } from "./condition.ts"

/** A named list of patterns for policies, because Cedar cannot match each member of a set against a pattern. */
export type Matcher = {
  readonly of: Words<"recipientDomains recipients hosts paths changedPaths deletedPaths commands commandLines commandUses sqlTargets">
  /**
   * Domains and hosts: exact, `*.example.com` for subdomains, or a network such as `192.168.4.0/24`. Recipients: addresses, or domains as
   * above. Paths: globs. Command lines: their first words. Command uses: name and first words, with flags in any position. Others: globs
   * on the whole value.
   */
  readonly patterns: readonly string[]
}

type MatchResult = { readonly outside: readonly string[]; readonly within: readonly string[] }

/** What a folder in a call stands for: its name only, or also everything below it. */
export type Reach = "named" | "below"

export type CompiledMatcher = (facts: CallFacts, reach?: Reach) => MatchResult

const isChange = (access: string): boolean => access !== "read"

function valuesOf(of: Matcher["of"], facts: CallFacts, reach: Reach): readonly string[] {
  const { paths, commands } = facts
  if (of === "deletedPaths")
    return paths.filter(({ access }) => access === "delete" || access === "unknown").map(({ path }) => path)
  if (of === "changedPaths" && reach === "below")
    return paths.filter(({ access, mayChange }) => isChange(access) || mayChange === true).map(({ path }) => path)
  if (of === "commandLines" || of === "commandUses")
    return commands.filter(({ name }) => name !== "").map(({ line }) => line)
  return setReaders[of](facts)
}

const hostTest = (pattern: string): ((value: string) => boolean) => {
  const network = networkTest(pattern)
  if (network !== undefined) return network
  const wild = pattern.startsWith("*.")
  const name = hostName(wild ? pattern.slice(2) : pattern)
  return wild ? (value) => value.endsWith(`.${name}`) : (value) => value === name
}

/** Matches addresses of a network by prefix length: `192.168.4.0/24`. */
function networkTest(pattern: string): ((value: string) => boolean) | undefined {
  const [, base = "", length = ""] = /^(\d{1,3}(?:\.\d{1,3}){3})\/(\d|[12]\d|3[0-2])$/.exec(pattern.trim()) ?? []
  if (base === "") return undefined
  const size = 2 ** (32 - Number(length))
  const block = (address: string): number =>
    Math.floor(address.split(".").reduce((sum, part) => sum * 256 + Number(part), 0) / size)
  return (value) => /^\d{1,3}(?:\.\d{1,3}){3}$/.test(value) && block(value) === block(base)
}

/** A pattern for a directory matches what is in it; one without a leading slash matches at any depth. */
const pathTest = (pattern: string): ((value: string) => boolean) => {
  const normal = fold(normalPath(pattern)).replace(/\/\*\*$/, "")
  const rooted = /^(?:[/~*]|[a-z]:)/.test(normal)
  const forms = [normal, `${normal}/**`, ...(rooted ? [] : [`**/${normal}`, `**/${normal}/**`])]
  return (value) =>
    placesOf(fold(value)).some((place) => forms.some((form) => globMatches(form, place)) || reaches(place, normal))
}

/** Maximum number of path components that are compared. */
const maxAbove = 24

/** True if a glob in a command matches the protected path or a folder above it: `/et*` matches `/etc`. */
function reaches(place: string, name: string): boolean {
  if (!/[*?[]/.test(place) || /[*?[]/.test(name)) return false
  if (place.includes("**")) return globMatches(place, name)
  const names = place.split("/").slice(0, maxAbove)
  return names.some((_, at) => globMatches(names.slice(0, at + 1).join("/"), name))
}

/** Matches a program with its first words: `git status` covers `git status --short`, but not `git push`. */
const lineTest = (pattern: string): ((value: string) => boolean) => {
  const wanted = fold(pattern).trim().split(/\s+/)
  return (value) => {
    const words = fold(value).split(" ")
    return wanted.every((word, at) => globMatches(word, words[at] ?? ""))
  }
}

/** Matches an exact address, or any address at a domain. */
const recipientTest = (pattern: string): ((value: string) => boolean) => {
  if (/^[^@]+@/.test(pattern)) return (value) => fold(value) === fold(pattern)
  const domain = hostTest(pattern.replace(/^@/, ""))
  return (value) => domain(value.slice(value.lastIndexOf("@") + 1))
}

const shortFlags: Readonly<Record<string, string>> = { "--force": "-f", "--recursive": "-r" }

/** Splits `-rf` into its letters, maps `--force` to `-f`, and keeps other long flags. */
const flagsOf = (word: string): readonly string[] => {
  if (/^-[a-z\d]{2,}$/i.test(word)) return [...word.slice(1)].map((letter) => `-${letter}`)
  const flag = word.replace(/=.*$/, "")
  return [shortFlags[flag] ?? flag]
}

/**
 * Matches a command by its name and first words, with flags in any position: `git push --force` covers `git -C sub push origin main
 * --force`.
 */
const useTest = (pattern: string): ((value: string) => boolean) => {
  const [program = "", ...rest] = fold(pattern).trim().split(/\s+/)
  const wanted = rest.filter((word) => !word.startsWith("-"))
  const flags = rest.filter((word) => word.startsWith("-")).flatMap(flagsOf)
  return (value) => {
    const [name = "", ...words] = fold(value).split(" ")
    if (!globMatches(program, name.slice(name.lastIndexOf("/") + 1))) return false
    const given = new Set(words.filter((word) => word.startsWith("-")).flatMap(flagsOf))
    if (!flags.every((flag) => given.has(flag))) return false
    let at = 0
    // The value of a flag may precede the first word: `git -C sub push`.
    for (const [n, word] of words.entries()) {
      if (at === wanted.length) break
      if (globMatches(wanted[at] ?? "", word)) at++
      else if (!word.startsWith("-") && !(words[n - 1] ?? "").startsWith("-")) return false
    }
    return at === wanted.length
  }
}

const isOfPaths = (of: Matcher["of"]): boolean => of === "paths" || of === "changedPaths" || of === "deletedPaths"

const testFor = (of: Matcher["of"], pattern: string): ((value: string) => boolean) => {
  if (of === "recipientDomains" || of === "hosts") return hostTest(pattern)
  if (of === "recipients") return recipientTest(pattern)
  if (isOfPaths(of)) return pathTest(pattern)
  if (of === "commandLines") return lineTest(pattern)
  if (of === "commandUses") return useTest(pattern)
  return (value) => globMatches(fold(pattern), fold(value))
}

/** Folders that a call uses with all their content and that may contain something a pattern matches. */
function foldersAbove(of: Matcher["of"], patterns: readonly string[], facts: CallFacts): readonly string[] {
  if (!isOfPaths(of)) return []
  return facts.paths
    .filter(
      ({ tree, access, path }) => (tree !== undefined || path.includes("**/")) && (of === "paths" || isChange(access)),
    )
    .map(({ path }) => path)
    .filter((path) => patterns.some((pattern) => isAbove(path, pattern)))
}

/** True if something that matches the pattern may be below the folder. A relative pattern may match below the working folder. */
function isAbove(folder: string, pattern: string): boolean {
  // Any depth below the working folder, against a pattern for a whole folder.
  if (/^(?:\.\/)?\*\*\//.test(folder))
    return /(?:\/\*{0,2}|\*\*)$/.test(pattern) && !/^(?:[/~]|[a-z]:)/i.test(pattern) && !/\/[^/*?[]+$/.test(folder)
  const name = fold(folder).replace(/\/+$/, "")
  const normal = fold(normalPath(pattern))
  if (name.includes("**/")) return mayMeet(name.split("/"), [...normal.replace(/\/\*\*$/, "").split("/"), "**"])
  if (name === "" || name === "." || name === "*" || name === "**")
    return !/^(?:[/~]|[a-z]:)/.test(normal) || folder.startsWith("/")
  if (/^\$(?:pwd|oldpwd)$/.test(name) || /^(?:\.\.\/?)+$/.test(name)) return true
  return normal.startsWith(`${name}/`)
}

/** True if two glob paths, compared component by component, may match the same file. */
function mayMeet(one: readonly string[], other: readonly string[]): boolean {
  const reached = Array.from({ length: one.length + 1 }, () => new Set<number>())
  reached[one.length]?.add(other.length)
  for (let at = one.length; at >= 0; at--)
    for (let to = other.length; to >= 0; to--) {
      const [name, next] = [one[at], other[to]]
      const skips =
        (name === "**" && (reached[at + 1]?.has(to) === true || (next !== undefined && reached[at]?.has(to + 1)))) ||
        (next === "**" && (reached[at]?.has(to + 1) === true || (name !== undefined && reached[at + 1]?.has(to))))
      const isSame = name !== undefined && next !== undefined && namesMeet(name, next) && reached[at + 1]?.has(to + 1)
      if (skips === true || isSame === true) reached[at]?.add(to)
    }
  return reached[0]?.has(0) === true
}

const namesMeet = (one: string, other: string): boolean =>
  (/[*?[]/.test(one) && /[*?[]/.test(other)) || globMatches(one, other) || globMatches(other, one)

/** Compiles a matcher to be applied to many calls. */
export function compileMatcher({ of, patterns }: Matcher): CompiledMatcher {
  const tests = patterns.map((pattern) => testFor(of, pattern))
  return (facts, reach = "named") => {
    const above = new Set(reach === "below" ? foldersAbove(of, patterns, facts) : [])
    const values = [...new Set(valuesOf(of, facts, reach))].sort()
    const within = values.filter((value) => above.has(value) || tests.some((test) => test(value)))
    const inside = new Set(within)
    return { within, outside: values.filter((value) => !inside.has(value)) }
  }
}
