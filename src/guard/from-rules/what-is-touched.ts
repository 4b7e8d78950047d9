import type { Rule } from "./binding.ts"
import { broad, type FamilyReading, likely, narrowed, policyReading, sure, twoThings } from "./family.ts"
import { grammar } from "./grammar.ts"
import { forbiddenParts, isExcepted, markedIn, type RulePart, statementOn, unexplainedWords } from "./parts.ts"
import { anyForm, controls, listedWords, namedIn, wholeWords } from "./vocabulary.ts"
import { confidenceIn } from "./where-it-goes.ts"

/** Rules on what is touched: files, tools and commands, production, security controls. */

export function paths(rule: Rule): FamilyReading {
  const { parts, words, values } = rule
  const stand = statementOn(parts, ["paths"])
  if (stand === undefined) return undefined
  if (values.domains.length + values.commands.length + values.tools.length > 0) return undefined
  const readable = parts.filter(({ marked }) => /‹path›.*(?<![\p{L}])read[- ]only(?![\p{L}])/u.test(marked))
  if (readable.length === 1 && parts.every((part) => part === readable[0] || part.polarity === "plain"))
    return policyReading(rule, { template: "protected-paths", paths: pathsIn(readable, rule), access: "change" }, sure)
  if (stand === "mixed") return twoThings
  const beside = parts.filter(
    ({ others, permits, polarity, marked }) => others || permits || (polarity === "never" && !marked.includes("‹")),
  )
  const acting = markedIn(stand.pointing ?? [...stand.parts, ...beside]).replace(/‹\p{L}+›/gu, "‹›")
  if (!listedWords("pathActs").test(acting) || grammar("notPlace").test(markedIn(stand.parts))) return undefined
  if (listedWords("notFiles").test(words)) return undefined
  const confidence = confidenceIn(stand, 1, anyForm("change"), anyForm("delete"), anyForm("look"), anyForm("file"))
  if (confidence === undefined) return narrowed
  const [changes, deletes] = [anyForm("change").test(acting), anyForm("delete").test(acting)]
  const namedPaths = pathsIn(stand.parts, rule)
  if (stand.direction === "only") {
    if (/‹path› (?:has|have|needs?|contains?|requires?)(?![\p{L}])/u.test(words) || (deletes && !changes))
      return undefined
    // Another part that forbids something speaks of something else, unless the path is an exception from it.
    const isOther = (part: RulePart): boolean =>
      part.polarity === "never" && !part.others && !stand.parts.includes(part)
    if (parts.some(isOther) && !stand.parts.some((part) => part.excepts)) return twoThings
    return !changes && wholeWords("read(?:ing)?|open|look").test(words)
      ? { why: "it says what alone may be read, and the guard judges what is changed" }
      : policyReading(rule, { template: "allowed-paths", paths: namedPaths }, confidence)
  }
  const isAsking = ({ plain }: RulePart): boolean => listedWords("asking").test(plain)
  const asks = stand.parts.every(isAsking) || parts.some((part) => isAsking(part) && part.marked.split(" ").length < 4)
  const isAsked = rule.asks && (changes || deletes) && asks
  if (stand.direction !== "never" && !isAsked) return undefined
  const reads =
    listedWords("opening").test(acting) ||
    (listedWords("closing").test(acting) && !listedWords("modifying").test(acting))
  const access = reads ? "any" : deletes && !changes ? "delete" : "change"
  return policyReading(rule, { template: "protected-paths", paths: namedPaths, access }, confidence)
}

const pathsIn = (parts: readonly RulePart[], { text }: Rule): readonly string[] => [
  ...new Set(parts.flatMap(({ values }) => values.paths).map((path) => asWritten(path, text))),
]

/** Returns a value in the upper and lower case of the original text. */
function asWritten(value: string, text: string): string {
  const at = text.toLowerCase().indexOf(value)
  return at < 0 ? value : text.slice(at, at + value.length)
}

export function tools(rule: Rule): FamilyReading {
  const { parts, values } = rule
  if (isReadOnly(rule)) return policyReading(rule, { template: "read-only" }, broad)
  const stand = statementOn(parts, ["commands", "tools"])
  if (stand === undefined || values.paths.length + values.domains.length > 0) return undefined
  if (stand === "mixed") return twoThings
  const of = (kind: "commands" | "tools") => [...new Set(stand.parts.flatMap((part) => part.values[kind]))]
  const [commands, names] = [of("commands"), of("tools")]
  // A name with an environment in it is a database or a table, not a tool.
  if (names.some((name) => /(?:^|_)(?:live|prod|prd|production)(?:_|$)/.test(name))) return undefined
  if (names.length > 0 && !listedWords("calling").test(rule.bare) && !isSubject.test(rule.bare)) return undefined
  const used = { why: "it does not forbid the command as such, and how it is used the guard cannot compare" } as const
  const isBare =
    stand.parts.every(({ marked }) =>
      marked
        .replace(grammar("askingClause"), " ")
        .split(/[\s,.!]+/)
        .every((word) => /^(?:‹.*)?$/u.test(word) || listedWords("besideCommand").test(word)),
    ) && !/‹command› it(?![\p{L}])/u.test(rule.words)
  if (stand.direction === "only")
    return names.length === 0 && listedWords("onlyThese").test(rule.words) && isBare
      ? { policy: { template: "shell-allow-list", commands }, confidence: likely }
      : used
  const answers = stand.pointing ?? []
  if (stand.direction === "plain" || answers.some(({ plain }) => !/^(?:never|no|forbidden|taboo)$/.test(plain)))
    return undefined
  const rest = parts.filter((part) => !stand.parts.includes(part) && !part.explains)
  if (!isBare || rest.some((part) => unexplainedWords(part, anyForm("tool")).length > 1)) return used
  return policyReading(
    rule,
    {
      template: "blocked-tools",
      ...(names.length > 0 ? { tools: names } : {}),
      ...(commands.length > 0 ? { commands } : {}),
    },
    stand.isDirect ? sure : broad,
  )
}

/** Matches "No ‹tool›" and "‹tool› is forbidden", where no verb shows that it is a tool. */
const isSubject = /^(?:no|never) ‹›|^‹› (?:is|are|stays?) (?!not here)/u

/** True if the rule forbids all changes. */
const isReadOnly = ({ words, parts }: Rule): boolean =>
  parts.length <= 2 &&
  !words.includes("‹") &&
  parts.some(({ plain }) => grammar("changesNothing").test(plain)) &&
  parts.every(
    (part) =>
      unexplainedWords(part, wholeWords("read|look|read-only|mode|change|access")).length === 0 ||
      grammar("changesNothing").test(part.plain),
  )
export function productionData(rule: Rule): FamilyReading {
  const { parts, plain } = rule
  if (listedWords("otherProduction").test(rule.words)) return undefined
  // "Production" in the name of a file or a host does not count.
  const nameIn = ({ plain, values }: RulePart): string =>
    [...values.paths, ...values.domains.filter((name) => name.includes("."))].reduce(
      (text, value) => text.replaceAll(value, " "),
      plain,
    )
  const isNamed = (part: RulePart): boolean =>
    listedWords("production").test(nameIn(part)) || listedWords("likelyProduction").test(nameIn(part))
  const named = parts.filter(isNamed)
  if (named.length === 0) return onlyTests(rule)
  if (rule.values.commands.length > 0) return undefined
  const isReading = wholeWords("read|reading|query|select|look")
  const excepts = parts.some((part) => part.excepts || (part.permits && named.includes(part)))
  if (excepts && !parts.some((part) => part.permits && isReading.test(part.plain))) return twoThings
  if (listedWords("readOnly").test(plain)) return policyReading(rule, { template: "no-production-writes" }, sure)
  const bound = parts.filter(
    (part) =>
      part.polarity === "never" &&
      !part.explains &&
      (isNamed(part) ||
        grammar("pointsBack").test(part.plain) ||
        parts.indexOf(part) > parts.indexOf(named[0] ?? part)),
  )
  if (bound.length === 0 && !rule.asks) return undefined
  // "You may write anywhere, just not to prod": the forbidden act is named in the part that permits.
  const allowed = parts.filter((part) => part.permits && bound.every(({ plain }) => /^(?:just )?not to /u.test(plain)))
  const text = bound.length === 0 ? rule.words : markedIn([...allowed, ...bound])
  const confidence =
    bound.every(({ isDirect }) => isDirect) && named.every(({ plain }) => listedWords("production").test(plain))
      ? sure
      : broad
  if (anyForm("alter").test(text)) return policyReading(rule, { template: "no-production-writes" }, confidence)
  if (anyForm("destroy").test(text)) return policyReading(rule, { template: "no-production-destruction" }, confidence)
  return anyForm("touch").test(text) || /^(?:never|not) (?:with|on|against|in) /u.test(text)
    ? policyReading(rule, { template: "no-production-access" }, Math.min(confidence, likely))
    : undefined
}

/** Reads a rule that allows test systems only, without naming production. */
function onlyTests(rule: Rule): FamilyReading {
  const isOnly = rule.parts.some(
    ({ plain, polarity }) =>
      polarity === "only" && listedWords("testSystem").test(plain) && wholeWords("only|exclusively|solely").test(plain),
  )
  return isOnly && wholeWords("query|work|run|test|use|write|connect|touch").test(rule.plain) && !isExcepted(rule)
    ? policyReading(rule, { template: "no-production-access" }, broad)
    : undefined
}

export function securityControls(rule: Rule): FamilyReading {
  const named = namedIn(controls, rule.plain)
  const isAll = listedWords("allControls").test(rule.plain)
  if (named.names.length === 0 && !isAll) return undefined
  const isNamed = (plain: string): boolean =>
    namedIn(controls, plain).names.length > 0 ||
    listedWords("allControls").test(plain) ||
    grammar("pointsBack").test(plain)
  const off = forbiddenParts(rule).filter(
    ({ plain }) =>
      isNamed(plain) &&
      (listedWords("turnedOff").test(plain) || anyForm("loosen").test(plain) || /^no changes? to/.test(plain)),
  )
  const on = rule.parts.filter(
    ({ plain, polarity }) => grammar("keepsOn").test(plain) && polarity !== "never" && isNamed(plain),
  )
  if (off.length + on.length === 0) return undefined
  if (
    rule.parts.some(
      (part) => (part.excepts || part.permits) && !wholeWords("read|look|view|come what may").test(part.plain),
    )
  )
    return twoThings
  const isSure =
    (isAll || named.isSure) && (on.length > 0 || off.some(({ plain }) => listedWords("turnedOff").test(plain)))
  return policyReading(
    rule,
    { template: "keep-security-controls", ...(isAll ? {} : { controls: named.names }) },
    isSure ? sure : broad,
  )
}
