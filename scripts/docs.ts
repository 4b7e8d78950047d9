import { copyFileSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { Marked, type Tokens } from "marked"
import { configurationPage } from "./configuration-page.ts"
import { root } from "./source-hash.ts"

/**
 * `npm run docs`: builds the pages of `docs/` as a static site without scripts in `dist/inspector/docs`, where the gateway serves them at
 * /inspector/docs/. The build does the same.
 */

/** Pages in reading order; pages not named here follow. */
const order: readonly string[] = [
  "quick-start",
  "inspector",
  "terminal",
  "gateway",
  "rules-and-guard",
  "library",
  "prompt-stack",
  "configuration",
  "handoffs",
  "summary-shapes",
  "operations",
  "migration",
  "threat-model",
  "benchmarks",
]

const docs = join(root, "docs")

type SitePage = { readonly name: string; readonly title: string; readonly markdown: string }

function readPages(folder: string): readonly SitePage[] {
  const place = (name: string): number => (order.includes(name) ? order.indexOf(name) : order.length)
  return readdirSync(folder)
    .filter((file) => file.endsWith(".md"))
    .map((file) => {
      const markdown = readFileSync(join(folder, file), "utf8")
      const name = file.replace(/\.md$/, "")
      return { name, markdown, title: /^# (.+)$/m.exec(markdown)?.[1] ?? name }
    })
    .toSorted((one, other) => place(one.name) - place(other.name) || (one.name < other.name ? -1 : 1))
}

const escaped = (text: string): string =>
  text.replace(/[&<>"]/g, (mark) => ({ "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" })[mark] ?? "")

/** Returns the anchor of a heading as GitHub forms it, so that the links of the pages work in both places. */
const anchorOf = (text: string): string =>
  text
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\s_-]/gu, "")
    .trim()
    .replace(/\s/g, "-")

/** Returns the link to another page of the site; undefined for what is outside of it (source files), which is named without a link. */
function targetOf(href: string, isInside: boolean): string | undefined {
  if (/^(?:https?:|#)/.test(href)) return href
  const [, path = "", anchor = ""] = /^([^#]*)(#.*)?$/.exec(href) ?? []
  if (path === "../README.md") return isInside ? "../index.html" : "index.html"
  if (path.startsWith("..") && !(isInside && /^\.\.\/[\w-]+\.md$/.test(path))) return undefined
  if (path === "decisions") return "decisions/index.html"
  return path.endsWith(".md") ? `${path.replace(/\.md$/, ".html")}${anchor}` : undefined
}

function render(markdown: string, isInside: boolean): string {
  const marked = new Marked({
    gfm: true,
    renderer: {
      heading({ tokens, depth, text }) {
        return `<h${depth} id="${anchorOf(text.replaceAll("`", ""))}">${this.parser.parseInline(tokens)}</h${depth}>\n`
      },
      link({ href, tokens }) {
        const to = targetOf(href, isInside)
        const words = this.parser.parseInline(tokens)
        return to === undefined ? words : `<a href="${escaped(to)}">${words}</a>`
      },
      table({ header, rows }) {
        const { parser } = this
        const cells = (row: readonly Tokens.TableCell[], tag: string): string =>
          row.map(({ tokens }) => `<${tag}>${parser.parseInline(tokens)}</${tag}>`).join("")
        const body = rows.map((row) => `<tr>${cells(row, "td")}</tr>`).join("\n")
        const head = `<thead><tr>${cells(header, "th")}</tr></thead>`
        return `<div class="table" tabindex="0" role="region" aria-label="Table"><table>${head}\n<tbody>${body}</tbody></table></div>\n`
      },
      // None of our pages contains HTML; what looks like it is text.
      html: ({ text }) => escaped(text),
    },
  })
  return String(marked.parse(markdown))
}

function pageOf({ name, title, markdown }: SitePage, pages: readonly SitePage[], folder: "" | "decisions"): string {
  const up = folder === "" ? "" : "../"
  const links = pages.map((page) => {
    const isHere = folder === "" && page.name === name
    return `<li><a href="${up}${page.name}.html"${isHere ? ' aria-current="page"' : ""}>${escaped(page.title)}</a></li>`
  })
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${escaped(title)} · Holdfast</title>
<link rel="icon" type="image/svg+xml" href="${up}mark.svg">
<link rel="stylesheet" href="${up}docs.css">
</head>
<body>
<nav aria-label="Pages"><p><a class="brand" href="${up}index.html">Holdfast</a></p><ul>${links.join("")}</ul></nav>
<main>
${render(markdown, folder !== "")}</main>
</body>
</html>
`
}

/** Returns the list of decisions, newest first. */
const decisionsPage = (decisions: readonly SitePage[]): SitePage => {
  const lines = decisions.toReversed().map(({ name, title }) => `- [${title}](${name}.md)`)
  const title = "Why it is built this way"
  return {
    name: "index",
    title,
    markdown: `# ${title}\n\nDecisions, the newest first, each with what else was looked at.\n\n${lines.join("\n")}\n`,
  }
}

export function writeSite(outDir: string): void {
  const all = readPages(docs)
  const pages = all.filter(({ name }) => name !== "index")
  const decisions = readPages(join(docs, "decisions"))
  mkdirSync(join(outDir, "decisions"), { recursive: true })
  mkdirSync(join(outDir, "pictures"), { recursive: true })
  for (const page of all) writeFileSync(join(outDir, `${page.name}.html`), pageOf(page, pages, ""))
  for (const page of [decisionsPage(decisions), ...decisions])
    writeFileSync(join(outDir, "decisions", `${page.name}.html`), pageOf(page, pages, "decisions"))
  for (const file of readdirSync(join(docs, "pictures")))
    copyFileSync(join(docs, "pictures", file), join(outDir, "pictures", file))
  copyFileSync(join(root, "inspector/src/mark.svg"), join(outDir, "mark.svg"))
  const styles = ["inspector/src/base.css", "scripts/docs.css"].map((name) => readFileSync(join(root, name), "utf8"))
  writeFileSync(join(outDir, "docs.css"), styles.join(""))
}

if (import.meta.main) {
  writeFileSync(join(docs, "configuration.md"), configurationPage())
  writeSite(process.argv[2] ?? join(root, "dist/inspector/docs"))
}
