import type { CallFacts } from "../facts/facts.ts"
import { hostName } from "../facts/hosts.ts"
import { normalPath, placesOf } from "../facts/paths.ts"
import { fold, globMatches } from "../facts/words.ts"

/** A list of patterns that a policy can ask by name, because Cedar has no way to match each member of a set against a pattern. */
export type Matcher = {
  readonly of: "recipientDomains" | "hosts" | "paths" | "changedPaths" | "commands" | "commandLines" | "sqlTargets"
  /** Domains and hosts: exact, or `*.example.com` for what stands below. Paths: globs. Others: globs on the whole name. */
  readonly patterns: readonly string[]
}

type Matched = { readonly outside: readonly string[]; readonly within: readonly string[] }

/** What counts of a folder: its name alone, or all that may be below it as well. */
export type Reach = "named" | "below"

export type CompiledMatcher = (facts: CallFacts, reach?: Reach) => Matched

const changes = (access: string): boolean => access !== "read"

function valuesOf(of: Matcher["of"], facts: CallFacts): readonly string[] {
  switch (of) {
    case "recipientDomains":
      return facts.emails.filter(({ recipient }) => recipient).map(({ domain }) => domain)
    case "hosts":
      return facts.hosts.filter(({ contacted }) => contacted).map(({ host }) => host)
    case "paths":
      return facts.paths.map(({ path }) => path)
    case "changedPaths":
      return facts.paths.filter(({ access }) => changes(access)).map(({ path }) => path)
    case "commands":
      return facts.commands.map(({ name }) => name)
    case "commandLines":
      return facts.commands.filter(({ name }) => name !== "").map(({ line }) => line)
    case "sqlTargets":
      return facts.statements.flatMap(({ targets }) => targets)
  }
}

const hostTest = (pattern: string): ((value: string) => boolean) => {
  const wild = pattern.startsWith("*.")
  const name = hostName(wild ? pattern.slice(2) : pattern)
  return wild ? (value) => value.endsWith(`.${name}`) : (value) => value === name
}

/** A pattern for a directory covers what is in it; one without a leading slash matches at any depth. */
const pathTest = (pattern: string): ((value: string) => boolean) => {
  const normal = fold(normalPath(pattern)).replace(/\/\*\*$/, "")
  const rooted = /^(?:[/~*]|[a-z]:)/.test(normal)
  const forms = [normal, `${normal}/**`, ...(rooted ? [] : [`**/${normal}`, `**/${normal}/**`])]
  return (value) =>
    placesOf(fold(value)).some((place) => forms.some((form) => globMatches(form, place)) || reaches(place, normal))
}

/** Directories above a path that are looked at. */
const maxAbove = 24

/** Does a pattern in a command stand for what is protected, or for what holds it? `/et*` stands for `/etc`. */
function reaches(place: string, name: string): boolean {
  if (!/[*?[]/.test(place) || /[*?[]/.test(name)) return false
  if (place.includes("**")) return globMatches(place, name)
  const names = place.split("/").slice(0, maxAbove)
  return names.some((_, at) => globMatches(names.slice(0, at + 1).join("/"), name))
}

/** A program with its first words: `git status` covers `git status --short`, and not `git push`. */
const lineTest = (pattern: string): ((value: string) => boolean) => {
  const wanted = fold(pattern).trim().split(/\s+/)
  return (value) => {
    const words = fold(value).split(" ")
    return wanted.every((word, at) => globMatches(word, words[at] ?? ""))
  }
}

const testFor = (of: Matcher["of"], pattern: string): ((value: string) => boolean) => {
  if (of === "recipientDomains" || of === "hosts") return hostTest(pattern)
  if (of === "paths" || of === "changedPaths") return pathTest(pattern)
  if (of === "commandLines") return lineTest(pattern)
  return (value) => globMatches(fold(pattern), fold(value))
}

/** Folders of which everything is taken, and below which what a pattern stands for may be. */
function foldersAbove(of: Matcher["of"], patterns: readonly string[], facts: CallFacts): readonly string[] {
  if (of !== "paths" && of !== "changedPaths") return []
  return facts.paths
    .filter(
      ({ tree, access, path }) =>
        (tree !== undefined || /^(?:\.\/)?\*\*\//.test(path)) && (of === "paths" || changes(access)),
    )
    .map(({ path }) => path)
    .filter((path) => patterns.some((pattern) => isAbove(path, pattern)))
}

/** May what a pattern stands for be below a folder? A pattern without a root may be, below the folder that one works in. */
function isAbove(folder: string, pattern: string): boolean {
  // Files of some name at any depth, and a pattern that stands for a whole folder.
  if (/^(?:\.\/)?\*\*\//.test(folder))
    return /(?:\/\*{0,2}|\*\*)$/.test(pattern) && !/^(?:[/~]|[a-z]:)/i.test(pattern) && !/\/[^/*?[]+$/.test(folder)
  const name = fold(folder).replace(/\/+$/, "")
  const normal = fold(normalPath(pattern))
  if (name === "" || name === "." || name === "*" || name === "**")
    return !/^(?:[/~]|[a-z]:)/.test(normal) || folder.startsWith("/")
  if (/^\$(?:pwd|oldpwd)$/.test(name) || /^(?:\.\.\/?)+$/.test(name)) return true
  return normal.startsWith(`${name}/`)
}

/** Make a matcher ready to be asked about many calls. */
export function compileMatcher({ of, patterns }: Matcher): CompiledMatcher {
  const tests = patterns.map((pattern) => testFor(of, pattern))
  return (facts, reach = "named") => {
    const above = new Set(reach === "below" ? foldersAbove(of, patterns, facts) : [])
    const values = [...new Set(valuesOf(of, facts))].sort()
    const within = values.filter((value) => above.has(value) || tests.some((test) => test(value)))
    const inside = new Set(within)
    return { within, outside: values.filter((value) => !inside.has(value)) }
  }
}
