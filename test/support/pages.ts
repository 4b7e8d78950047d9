import { globSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { root } from "./source.ts"

/** A Markdown page of the project; `path` is below the root. */
export type Page = { readonly path: string; readonly text: string }

/** A fenced block of a page: its language as written, its content, and its first line. */
export type Block = { readonly language: string; readonly content: string; readonly line: number }

const readPage = (path: string): Page => ({ path, text: readFileSync(join(root, path), "utf8") })

/** Pages for users. */
export const guides: readonly Page[] = ["README.md", ...globSync("docs/*.md", { cwd: root }).sort()].map(readPage)

/** Pages for contributors. */
export const housePages: readonly Page[] = ["ARCHITECTURE.md", "AGENTS.md", "CONTRIBUTING.md", "GLOSSARY.md"].map(
  readPage,
)

export const decisions: readonly Page[] = globSync("docs/decisions/*.md", { cwd: root }).sort().map(readPage)

export function blocksOf({ text }: Page): readonly Block[] {
  return [...text.matchAll(/^```([^\n]*)\n([\s\S]*?)^```$/gm)].map(({ 1: language = "", 2: content = "", index }) => ({
    language,
    content,
    line: text.slice(0, index).split("\n").length,
  }))
}

/** Returns the page without its fenced blocks. */
export const proseOf = ({ text }: Page): string => text.replaceAll(/^```[^\n]*\n[\s\S]*?^```$/gm, "")

/** Returns the inline code of a page. */
export const codeSpansOf = (page: Page): readonly string[] =>
  [...proseOf(page).matchAll(/`([^`\n]+)`/g)].map(([, code = ""]) => code)

/** Returns the anchors of a page's headings, as GitHub forms them. */
export function anchorsOf(page: Page): ReadonlySet<string> {
  const seen = new Map<string, number>()
  const anchors = [...proseOf(page).matchAll(/^#{1,6} +(.+)$/gm)].map(([, heading = ""]) => {
    const slug = heading
      .replaceAll(/\[([^\]]*)\]\([^)]*\)/g, "$1")
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N}\s_-]/gu, "")
      .trim()
      .replaceAll(/\s/g, "-")
    const times = seen.get(slug) ?? 0
    seen.set(slug, times + 1)
    return times === 0 ? slug : `${slug}-${times}`
  })
  return new Set(anchors)
}

/** Returns the links of a page to other files or headings of the project. */
export const internalLinksOf = (page: Page): readonly string[] =>
  [
    ...proseOf(page)
      .replaceAll(/`[^`\n]*`/g, "")
      .matchAll(/\]\(([^)\s]+)\)/g),
  ]
    .map(([, target = ""]) => target)
    .filter((target) => !/^[a-z]+:/.test(target))

/** One command of a shell line: its words without quotes, and without variables set before it. */
export type ShellCommand = readonly string[]

/** Returns the commands of a shell text, as far as documentation needs it: quotes, comments, continued lines, `&&`, `;` and `|`. */
export function shellCommands(text: string): readonly ShellCommand[] {
  const commands: string[][] = [[]]
  const token = /#[^\n]*|\\\n|&&|[;|\n]|(?:"(?:\\.|[^"])*"|'[^']*'|\\.|[^\s;|"'\\])+/g
  for (const [word] of text.matchAll(token)) {
    if (word.startsWith("#") || word === "\\\n") continue
    if (/^(?:&&|[;|\n])$/.test(word)) commands.push([])
    else commands.at(-1)?.push(word.replaceAll(/"((?:\\.|[^"])*)"|'([^']*)'/g, "$1$2"))
  }
  const withoutVariables = commands.map((words) => words.slice(words.findIndex((word) => !/^[A-Z_]+=/.test(word))))
  return withoutVariables.filter((words) => words.length > 0)
}
