import { anyOf } from "../../language/word-lists.ts"
import { foundIn } from "./options.ts"

/** Finds the texts that a program builds from string literals, without running it. */

/** Maximum number of calls examined in one program, and maximum length of an argument in characters. */
const maxCalls = 400
const maxArgument = 4_000

/** Matches a string literal, in the notations of most languages. */
export const literal =
  /"""([^"]{0,20000})"""|'''([^']{0,20000})'''|"((?:[^"\\\n]|\\.){1,4000})"|'((?:[^'\\\n]|\\.){1,4000})'|`([^`]{1,20000})`/gs

export const unescaped = (text: string): string => text.replace(/\\(["'`\\])/g, "$1").replace(/\\n/g, "\n")

/** A program with its concatenated literals joined and quoted members resolved, and the variables that hold a literal. */
export function plainCode(code: string): { readonly text: string; readonly names: TextNames } {
  const once = joined(code)
  const names = namesIn(once)
  return { text: withMembers(names.size === 0 ? once : joined(withNames(once, names))), names }
}

/** Joins the pieces of concatenated literals: `"a" + "b"`, `join("a", "b")`, `Path("a") / "b"`. */
function joined(written: string): string {
  const code = withHome(
    written
      .replace(
        /\b(?:chr|String\.fromCharCode|Character\.toString|char)\(\s*(\d{2,3}|0x[\da-f]{2})\s*\)/gi,
        (whole, number: string) => {
          const sign = String.fromCharCode(Number(number))
          return /^[\x20-\x7e]$/.test(sign) && !/["'\\]/.test(sign) ? `"${sign}"` : whole
        },
      )
      .replace(
        /\b(?:Pure(?:Posix)?)?Path\(\s*((?:["'][^"'\n]{0,300}["'](?:\s*\+\s*["'][^"'\n]{0,300}["'])*\s*,\s*){1,8}["'][^"'\n]{0,300}["'](?:\s*\+\s*["'][^"'\n]{0,300}["'])*)\s*\)/g,
        (_whole, list: string) =>
          `Path("${list
            .split(/,/)
            .map((one) => textsIn(one).join(""))
            .join("/")}")`,
      ),
  )
  const added = code.replace(/"\s{0,20}[+.]\s{0,20}"|'\s{0,20}[+.]\s{0,20}'|'\s{1,20}'(?=\w)|"\s{1,20}"(?=\w)/g, "")
  return joinedLists(added)
    .replace(
      /\bjoin\(\s*((?:["'][^"'\n]{0,300}["']\s*,\s*){1,12}["'][^"'\n]{0,300}["'])\s*\)/g,
      (_whole, list: string) => `"${textsIn(list).join("/")}"`,
    )
    .replace(/(["'])\s*\)?\s*\/\s*\1/g, "/")
}

/** Replaces a member access in brackets before a call or another member: `os["system"]("x")` becomes `os.system("x")`. */
const withMembers = (code: string): string =>
  code.includes("[") ? code.replace(/(?<=[\w)\]])\[\s*(["'`])([A-Za-z_$][\w$]{0,60})\1\s*\](?=\s*[([.])/g, ".$2") : code

const quotedList = /["']([^"'\n]*)["']/g
const textsIn = (list: string): readonly string[] => foundIn(list, quotedList)

/** Joins a list of literals: `"-".join(["a", "b"])` and `["a", "b"].join("-")`. */
const joinedLists = (code: string): string =>
  code
    .replace(
      /(["'])([^"'\n]{0,10})\1\.join\(\s*[[(]\s*((?:["'][^"'\n]{0,300}["']\s*,?\s*){1,20})[\])]\s*\)/g,
      (_whole, _quote, sign: string, list: string) => `"${textsIn(list).join(sign)}"`,
    )
    .replace(
      /\[\s*((?:["'][^"'\n]{0,300}["']\s*,?\s*){1,20})\]\s*\.join\(\s*(["'`])([^"'`\n]{0,10})\2\s*\)/g,
      (_whole, list: string, _quote, sign: string) => `"${textsIn(list).join(sign)}"`,
    )

const home = new RegExp(
  anyOf(
    "\\b(?:pathlib\\.)?Path\\.home\\(\\)|\\bos\\.path\\.expanduser\\(\\s*[\"']~[\"']\\s*\\)",
    "\\b(?:os\\.)?homedir\\(\\)|\\bDir\\.home\\b",
    "\\b(?:os\\.environ|process\\.env|ENV)(?:\\.HOME\\b|(?:\\.(?:get|fetch))?[[(]\\s*[\"']HOME[\"']\\s*[\\])])",
    "\\$ENV\\{[\"']?HOME[\"']?\\}|\\bos\\.getenv\\(\\s*[\"']HOME[\"']\\s*\\)",
  ),
  "g",
)

/** Matches two concatenated literals in different quotes. */
const mixed = /(["'])([^"'\\\n]{0,300})\1\s{0,4}\)?\s{0,4}([+./])\s{0,4}(?!\1)(["'])([^"'\\\n]{0,300})\4/
/** Maximum number of joins of literals in different quotes. */
const maxPieces = 8

/** Writes the home folder as `~`, and joins literals in different quotes and the arguments of `glob` and `joinpath`. */
function withHome(code: string): string {
  const found = code.replace(home, '"~"').replace(/\$?\{\s*"~"\s*\}/g, "~")
  let plain = found
  for (let round = 0; round < maxPieces && mixed.test(plain); round++)
    plain = plain.replace(
      mixed,
      (_whole, quote: string, one: string, sign: string, _other, next: string) =>
        `${quote}${one}${sign === "/" ? "/" : ""}${next}${quote}`,
    )
  // A glob below a folder that is given by an absolute path.
  const below = plain.replace(
    /(["'])([~/][^"'\n]{0,300})\1\s*\)?\.(r?)glob\(\s*["']([^"'\n]{0,300})["']/g,
    (_whole, quote: string, folder: string, deep: string, pattern: string) =>
      `${quote}${folder}/${deep === "" ? "" : "**/"}${pattern}${quote}`,
  )
  return below.replace(
    /(["'])([^"'\n]{0,300})\1\s*\)?\.joinpath\(\s*((?:["'][^"'\n]{0,300}["']\s*,?\s*){1,12})\)/g,
    (_whole, quote: string, first: string, list: string) => `${quote}${[first, ...textsIn(list)].join("/")}${quote}`,
  )
}

/** Returns the first argument of each matching call, as it is written. */
export function argumentsOf(code: string, call: RegExp): readonly string[] {
  const found: string[] = []
  for (const { 0: whole, index } of code.matchAll(call)) {
    const rest = code.slice(index + whole.length, index + whole.length + maxArgument)
    found.push(
      /^\s*(?:\[[^\]]*\]|[rbfu]{0,2}(?:"""[\s\S]*?"""|'''[\s\S]*?'''|"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'|`[^`]*`)(?:\s*[%+.]\s*[\w(][^,)\n]*)?|[^,)\n]*)/
        .exec(rest)?.[0]
        ?.trim() ?? "",
    )
    if (found.length >= maxCalls) break
  }
  return found
}

export type TextNames = ReadonlyMap<string, readonly string[]>

/** Variables that hold literals, with all their values; one that is assigned anything else is left out. */
function namesIn(code: string): TextNames {
  const names = new Map<string, string[]>()
  const other = new Set<string>()
  for (const [, name = "", value = ""] of code.matchAll(
    /(?:^|[;\n,({]|\b(?:const|let|var|my|local)\s)\s*[$@]?([A-Za-z_]\w*)\s*(?:=(?![=>])|:=)\s*([^\n;]{0,2000})/g,
  )) {
    const text = /^[rbu]{0,2}(?:"((?:[^"\\]|\\.)*)"|'((?:[^'\\]|\\.)*)'|`([^`$]*)`)\s*(?:[,)}#/]|$)/.exec(
      value.trim().replace(/^(?:pathlib\.)?(?:Pure)?Path\(\s*/, ""),
    )
    if (text === null) other.add(name)
    else names.set(name, [...(names.get(name) ?? []), unescaped(text[1] ?? text[2] ?? text[3] ?? "")])
  }
  for (const [, name = "", list = ""] of code.matchAll(
    /\bfor\s+(\w+)\s+in\s+(\[[^\]\n]{0,2000}\]|\([^)\n]{0,2000}\))/g,
  ))
    names.set(
      name,
      [...list.matchAll(literal)].map(([, , , double, single]) => double ?? single ?? ""),
    )
  for (const name of other) names.delete(name)
  return names
}

/** Replaces a variable that holds one literal where another literal is appended to it. */
const withNames = (code: string, names: TextNames): string =>
  code.replace(
    /(?<![\w.$"'])([A-Za-z_]\w*)(?=\s*[+/]\s*["'])|(?<=\bjoin\(\s*)([A-Za-z_]\w*)(?=\s*,\s*["'])|(?<=\bPath\(\s*)([A-Za-z_]\w*)(?=\s*[),])/g,
    (name) => {
      const values = names.get(name)
      return values?.length === 1 && /^[^"'\n]{1,300}$/.test(values[0] ?? "") ? `"${values[0]}"` : name
    },
  )

/** Values of an argument, if they are literals in the program. */
export function argumentTexts(argument: string, names: TextNames): readonly string[] | undefined {
  const bare = argument
    .replace(/^[rbfu]{1,2}(?=["'])/, "")
    .replace(/^(?:Path|str|pathlib\.Path|URL|new URL)\(\s*/, "")
    .replace(/^\$/, "")
  const whole = /^(?:"""([\s\S]*)"""|'''([\s\S]*)'''|"((?:[^"\\\n]|\\.)*)"|'((?:[^'\\\n]|\\.)*)'|`([^`]*)`)$/.exec(bare)
  if (whole === null) return names.get(bare)
  const text = unescaped(whole[1] ?? whole[2] ?? whole[3] ?? whole[4] ?? whole[5] ?? "")
  const isFormat = /^[rbu]?f/.test(argument) || argument.startsWith("`")
  const filled = text.replace(/\$?\{(\w+)\}/g, (slot, name: string) => names.get(name)?.[0] ?? slot)
  return isFormat && /\{/.test(filled) ? undefined : [filled]
}
