import { escaped } from "./svg.ts"

/** Returns a self-contained page with its style and plots. */
export const pageOf = (
  title: string,
  notes: readonly string[],
  sections: readonly Section[],
): string => `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escaped(title)}</title>
<style>
body { font: 15px/1.5 system-ui, sans-serif; color: #1c1c1c; background: #fff; max-width: 1180px; margin: 2rem auto; padding: 0 1rem }
h1 { font-size: 1.6rem } h2 { font-size: 1.15rem; margin-top: 2.2rem }
svg { width: 100%; height: auto; font: 12px system-ui, sans-serif } svg .small { font-size: 11px; fill: #555 } svg .grid { stroke: #ddd }
.note { background: #fff4d6; border-left: 4px solid #d98200; padding: .6rem .9rem }
.legend span { margin-right: 1.2rem; font-size: 13px } .legend i { display: inline-block; width: 11px; height: 11px; margin-right: .35rem; border-radius: 2px }
pre { background: #f6f6f6; padding: .8rem; overflow-x: auto; font-size: 12px }
.plot { max-width: 760px }
</style>
</head>
<body>
<h1>${escaped(title)}</h1>
${notes.map((note) => `<p class="note">${escaped(note)}</p>`).join("\n")}
${sections.map(({ title: head, body }) => `<h2>${escaped(head)}</h2>\n${body}`).join("\n")}
</body>
</html>
`

export type Section = { readonly title: string; readonly body: string }

export const preformatted = (text: string): string => `<pre>${escaped(text.trim())}</pre>`
