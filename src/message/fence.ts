/** What may hide between `<` and a tag's name and still be read as that tag. */
const gap = "[\\s/]{0,8}"

const escapeName = (tag: string): string => tag.replace(/[^\w-]/g, "\\$&")

/** Put a text between `<tag …>` and `</tag>` so that nothing in it can close the fence; `unfence` gives the text back to the letter. */
export function fence(tag: string, text: string, attributes: Readonly<Record<string, string>> = {}): string {
  const name = escapeName(tag)
  const escaped = text
    .replace(new RegExp(`&(?=(?:amp;)*lt;${gap}${name})`, "gi"), "&amp;")
    .replace(new RegExp(`<(?=${gap}${name})`, "gi"), "&lt;")
  const written = Object.entries(attributes).map(
    ([key, value]) => ` ${key}="${value.replace(/[&<>"]/g, (sign) => `&#${sign.charCodeAt(0)};`)}"`,
  )
  return `<${tag}${written.join("")}>\n${escaped}\n</${tag}>`
}

/** The text inside a fence of that tag, or nothing if it is not one whole fence. */
export function unfence(tag: string, fenced: string): string | undefined {
  const open = fenced.indexOf(">\n")
  const close = `\n</${tag}>`
  if (!fenced.startsWith(`<${tag}`) || open < 0 || !fenced.endsWith(close)) return undefined
  const name = escapeName(tag)
  return fenced
    .slice(open + 2, -close.length)
    .replace(new RegExp(`&lt;(?=${gap}${name})`, "gi"), "<")
    .replace(new RegExp(`&amp;(?=(?:amp;)*lt;${gap}${name})`, "gi"), "&")
}
