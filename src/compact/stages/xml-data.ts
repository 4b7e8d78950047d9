/** Maximum length: longer texts are pages rather than data. */
const maxLength = 20_000
/** Maximum depth: no answer of a service is deeper. */
const maxDepth = 24

const piece = /<(\/?)([A-Za-z_][\w:.-]*)((?:\s+[\w:.-]+\s*=\s*(?:"[^"<]*"|'[^'<]*'))*)\s*(\/?)>|([^<]+)/y
const attribute = /([\w:.-]+)\s*=\s*(?:"([^"<]*)"|'([^'<]*)')/g
const isPage = /<(?:!doctype|html|head|body|div|span|table|script|style|a|p|br|ul|ol|li|h[1-6]|img|svg)[\s/>]/i
const entities: Readonly<Record<string, string>> = { amp: "&", lt: "<", gt: ">", quot: '"', apos: "'" }

const plainText = (text: string): string =>
  text.replace(/&(amp|lt|gt|quot|apos);/g, (whole, name: string) => entities[name] ?? whole)

type Element = { readonly name: string; readonly fields: Map<string, unknown[]>; text: string }

/**
 * Converts a service's XML answer to JSON: attributes and elements become fields, repeated ones a list. Undefined if the text is not
 * exactly one well-formed element with elements or attributes in it, or if it is a page.
 */
export function xmlAsJson(text: string): string | undefined {
  const trimmed = text.trim().replace(/^<\?xml[^>]{0,200}\?>\s*/, "")
  if (!/^<[A-Za-z_]/.test(trimmed) || !trimmed.endsWith(">") || trimmed.length > maxLength || isPage.test(trimmed))
    return undefined
  const outer: Element = { name: "", fields: new Map(), text: "" }
  const open: Element[] = [outer]
  let count = 0
  for (piece.lastIndex = 0; piece.lastIndex < trimmed.length; ) {
    const found = piece.exec(trimmed)
    const inner = open.at(-1)
    if (found === null || inner === undefined || open.length > maxDepth) return undefined
    const [, closes = "", name = "", given = "", isEmpty = "", said] = found
    if (said !== undefined) inner.text += said
    else if (closes !== "") {
      const around = open.at(-2)
      if (around === undefined || inner.name !== name) return undefined
      open.pop()
      put(around, name, elementValue(inner))
    } else {
      const element: Element = { name, fields: new Map(), text: "" }
      for (const [, key = "", one, other = ""] of given.matchAll(attribute))
        if (!key.startsWith("xmlns")) put(element, key, plainText(one ?? other))
      count += 1 + element.fields.size
      if (isEmpty === "") open.push(element)
      else put(inner, name, elementValue(element))
    }
  }
  const roots = [...outer.fields.values()].flat()
  const isWhole = open.length === 1 && roots.length === 1 && outer.text.trim() === ""
  return isWhole && count > 1 ? JSON.stringify(elementValue(outer)) : undefined
}

const put = ({ fields }: Element, key: string, value: unknown): void =>
  void fields.set(key, [...(fields.get(key) ?? []), value])

function elementValue({ fields, text }: Element): unknown {
  const content = plainText(text.trim())
  if (fields.size === 0) return content
  const entries = [...fields].map(([key, values]): readonly [string, unknown] => [
    key,
    values.length === 1 ? values[0] : values,
  ])
  return Object.fromEntries(content === "" ? entries : [...entries, ["text", content]])
}
