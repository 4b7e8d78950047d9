import type { Rule } from "./binding.ts"
import { broad, type FamilyReading, likely, made, narrowed, sure, twoThings } from "./family.ts"
import { grammar } from "./grammar.ts"
import { forbiddenParts, isExcepted, markedIn, type RulePart, standingOf, strangeWords } from "./parts.ts"
import { any, anyForm, controls, namedIn, said } from "./vocabulary.ts"
import { confidenceIn } from "./where-it-goes.ts"

/** Rules on what is touched: files, tools and commands, production, security controls. */

export function paths(rule: Rule): FamilyReading {
  const { parts, words, values } = rule
  const stand = standingOf(parts, ["paths"])
  if (stand === undefined) return undefined
  if (values.domains.length + values.commands.length + values.tools.length > 0) return undefined
  const readable = parts.filter(({ marked }) => /‹path›.*(?<![\p{L}])read[- ]only(?![\p{L}])/u.test(marked))
  if (readable.length === 1 && parts.every((part) => part === readable[0] || part.polarity === "plain"))
    return made(rule, { template: "protected-paths", paths: pathsIn(readable, rule), access: "change" }, sure)
  if (stand === "mixed") return twoThings
  const beside = parts.filter(
    ({ others, permits, polarity, marked }) => others || permits || (polarity === "never" && !marked.includes("‹")),
  )
  const acting = markedIn(stand.pointing ?? [...stand.parts, ...beside]).replace(/‹\p{L}+›/gu, "‹›")
  if (!said("pathActs").test(acting) || grammar("notPlace").test(markedIn(stand.parts))) return undefined
  if (said("notFiles").test(words)) return undefined
  const confidence = confidenceIn(stand, 1, anyForm("change"), anyForm("delete"), anyForm("look"), anyForm("file"))
  if (confidence === undefined) return narrowed
  const [changes, deletes] = [anyForm("change").test(acting), anyForm("delete").test(acting)]
  const named = pathsIn(stand.parts, rule)
  if (stand.direction === "only") {
    if (/‹path› (?:has|have|needs?|contains?|requires?)(?![\p{L}])/u.test(words) || (deletes && !changes))
      return undefined
    // What is forbidden beside it is another thing, unless the path is taken out of it.
    const isOther = (part: RulePart): boolean =>
      part.polarity === "never" && !part.others && !stand.parts.includes(part)
    if (parts.some(isOther) && !stand.parts.some((part) => part.excepts)) return twoThings
    return !changes && any("read(?:ing)?|open|look").test(words)
      ? { why: "it says what alone may be read, and the guard judges what is changed" }
      : made(rule, { template: "allowed-paths", paths: named }, confidence)
  }
  const isAsking = ({ plain }: RulePart): boolean => said("asking").test(plain)
  const asks = stand.parts.every(isAsking) || parts.some((part) => isAsking(part) && part.marked.split(" ").length < 4)
  const isAsked = rule.asks && (changes || deletes) && asks
  if (stand.direction !== "never" && !isAsked) return undefined
  const reads = said("opening").test(acting) || (said("closing").test(acting) && !said("modifying").test(acting))
  const access = reads ? "any" : deletes && !changes ? "delete" : "change"
  return made(rule, { template: "protected-paths", paths: named, access }, confidence)
}

const pathsIn = (parts: readonly RulePart[], { text }: Rule): readonly string[] => [
  ...new Set(parts.flatMap(({ values }) => values.paths).map((path) => asWritten(path, text))),
]

/** A value in the letters that it was written in. */
function asWritten(value: string, text: string): string {
  const at = text.toLowerCase().indexOf(value)
  return at < 0 ? value : text.slice(at, at + value.length)
}

export function tools(rule: Rule): FamilyReading {
  const { parts, values } = rule
  if (isReadOnly(rule)) return made(rule, { template: "read-only" }, broad)
  const stand = standingOf(parts, ["commands", "tools"])
  if (stand === undefined || values.paths.length + values.domains.length > 0) return undefined
  if (stand === "mixed") return twoThings
  const of = (kind: "commands" | "tools") => [...new Set(stand.parts.flatMap((part) => part.values[kind]))]
  const [commands, names] = [of("commands"), of("tools")]
  // What is named after an environment is a database or a table of it.
  if (names.some((name) => /(?:^|_)(?:live|prod|prd|production)(?:_|$)/.test(name))) return undefined
  if (names.length > 0 && !said("calling").test(rule.bare) && !isSubject.test(rule.bare)) return undefined
  const used = { why: "it does not forbid the command as such, and how it is used the guard cannot compare" } as const
  const isBare =
    stand.parts.every(({ marked }) =>
      marked
        .replace(grammar("askingClause"), " ")
        .split(/[\s,.!]+/)
        .every((word) => /^(?:‹.*)?$/u.test(word) || said("besideCommand").test(word)),
    ) && !/‹command› it(?![\p{L}])/u.test(rule.words)
  if (stand.direction === "only")
    return names.length === 0 && said("onlyThese").test(rule.words) && isBare
      ? { policy: { template: "shell-allow-list", commands }, confidence: likely }
      : used
  const answers = stand.pointing ?? []
  if (stand.direction === "plain" || answers.some(({ plain }) => !/^(?:never|no|forbidden|taboo)$/.test(plain)))
    return undefined
  const rest = parts.filter((part) => !stand.parts.includes(part) && !part.explains)
  if (!isBare || rest.some((part) => strangeWords(part, anyForm("tool")).length > 1)) return used
  return made(
    rule,
    {
      template: "blocked-tools",
      ...(names.length > 0 ? { tools: names } : {}),
      ...(commands.length > 0 ? { commands } : {}),
    },
    stand.isDirect ? sure : broad,
  )
}

/** "No ‹tool›", "‹tool› is forbidden": nothing else says that it is a tool. */
const isSubject = /^(?:no|never) ‹›|^‹› (?:is|are|stays?) (?!not here)/u

/** Nothing is changed at all. */
const isReadOnly = ({ words, parts }: Rule): boolean =>
  parts.length <= 2 &&
  !words.includes("‹") &&
  parts.some(({ plain }) => grammar("changesNothing").test(plain)) &&
  parts.every(
    (part) =>
      strangeWords(part, any("read|look|read-only|mode|change|access")).length === 0 ||
      grammar("changesNothing").test(part.plain),
  )
export function productionData(rule: Rule): FamilyReading {
  const { parts, plain } = rule
  if (said("otherProduction").test(rule.words)) return undefined
  // A file or a host that has production in its name is a file or a host.
  const nameIn = ({ plain, values }: RulePart): string =>
    [...values.paths, ...values.domains.filter((name) => name.includes("."))].reduce(
      (text, value) => text.replaceAll(value, " "),
      plain,
    )
  const isNamed = (part: RulePart): boolean =>
    said("production").test(nameIn(part)) || said("likelyProduction").test(nameIn(part))
  const named = parts.filter(isNamed)
  if (named.length === 0) return onlyTests(rule)
  if (rule.values.commands.length > 0) return undefined
  const isReading = any("read|reading|query|select|look")
  const excepts = parts.some((part) => part.excepts || (part.permits && named.includes(part)))
  if (excepts && !parts.some((part) => part.permits && isReading.test(part.plain))) return twoThings
  if (said("readOnly").test(plain)) return made(rule, { template: "no-production-writes" }, sure)
  const bound = parts.filter(
    (part) =>
      part.polarity === "never" &&
      !part.explains &&
      (isNamed(part) ||
        grammar("pointsBack").test(part.plain) ||
        parts.indexOf(part) > parts.indexOf(named[0] ?? part)),
  )
  if (bound.length === 0 && !rule.asks) return undefined
  // "You may write anywhere, just not to prod": what is not done there stands with what is allowed.
  const allowed = parts.filter((part) => part.permits && bound.every(({ plain }) => /^(?:just )?not to /u.test(plain)))
  const text = bound.length === 0 ? rule.words : markedIn([...allowed, ...bound])
  const confidence =
    bound.every(({ isDirect }) => isDirect) && named.every(({ plain }) => said("production").test(plain)) ? sure : broad
  if (anyForm("alter").test(text)) return made(rule, { template: "no-production-writes" }, confidence)
  if (anyForm("destroy").test(text)) return made(rule, { template: "no-production-destruction" }, confidence)
  return anyForm("touch").test(text) || /^(?:never|not) (?:with|on|against|in) /u.test(text)
    ? made(rule, { template: "no-production-access" }, Math.min(confidence, likely))
    : undefined
}

/** Production is not named, and all else is. */
function onlyTests(rule: Rule): FamilyReading {
  const isOnly = rule.parts.some(
    ({ plain, polarity }) =>
      polarity === "only" && said("testSystem").test(plain) && any("only|exclusively|solely").test(plain),
  )
  return isOnly && any("query|work|run|test|use|write|connect|touch").test(rule.plain) && !isExcepted(rule)
    ? made(rule, { template: "no-production-access" }, broad)
    : undefined
}

export function securityControls(rule: Rule): FamilyReading {
  const named = namedIn(controls, rule.plain)
  const isAll = said("allControls").test(rule.plain)
  if (named.names.length === 0 && !isAll) return undefined
  const isNamed = (plain: string): boolean =>
    namedIn(controls, plain).names.length > 0 || said("allControls").test(plain) || grammar("pointsBack").test(plain)
  const off = forbiddenParts(rule).filter(
    ({ plain }) =>
      isNamed(plain) &&
      (said("turnedOff").test(plain) || anyForm("loosen").test(plain) || /^no changes? to/.test(plain)),
  )
  const on = rule.parts.filter(
    ({ plain, polarity }) => grammar("keepsOn").test(plain) && polarity !== "never" && isNamed(plain),
  )
  if (off.length + on.length === 0) return undefined
  if (
    rule.parts.some((part) => (part.excepts || part.permits) && !any("read|look|view|come what may").test(part.plain))
  )
    return twoThings
  const isSure = (isAll || named.isSure) && (on.length > 0 || off.some(({ plain }) => said("turnedOff").test(plain)))
  return made(
    rule,
    { template: "keep-security-controls", ...(isAll ? {} : { controls: named.names }) },
    isSure ? sure : broad,
  )
}
