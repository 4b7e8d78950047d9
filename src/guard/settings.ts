import { clean, fold } from "./clean.ts"
import type { Leaf } from "./leaf.ts"
import { keyName, roleOf } from "./role.ts"

/** Files that configure something: what is written into one is a setting, not prose. */
const configFile = /\.(?:ya?ml|toml|ini|conf|cfg|cnf|properties|env|tf|tfvars|hcl|bicep)$|(?:^|[/\\])\.env(?:\.\w+)?$/i

/** Lines of one file that are read as settings. */
const maxLines = 2_000

const settingLine = /^(\s{0,40})(?:-\s)?["']?([\w.-]{1,80})["']?\s{0,20}(?:[:=]\s{0,20}["']?([^"'#\n{]{0,200})|\{|["'])/

/** The settings that a call writes into a file of configuration, each with the names that it stands under, as values of the call. */
export function settingsOf(leaves: readonly Leaf[]): readonly Leaf[] {
  const configures = leaves.some(({ role, text }) => role === "path" && configFile.test(text.trim()))
  if (!configures) return []
  return leaves.flatMap(({ role, text, group, encoded }) =>
    role === "body" && text.length > 0 ? settingsIn(text, group, encoded) : [],
  )
}

function settingsIn(text: string, group: number, encoded: boolean): readonly Leaf[] {
  const above: { readonly indent: number; readonly name: string }[] = []
  const found: Leaf[] = []
  for (const line of text.split("\n", maxLines)) {
    const [, space = "", key = "", value = ""] = settingLine.exec(line.slice(0, 400)) ?? []
    if (key === "") continue
    while ((above.at(-1)?.indent ?? -1) >= space.length) above.pop()
    const name = fold(keyName(clean(key).text))
    above.push({ indent: space.length, name })
    const said = value.trim()
    const keys = above.slice(-6).map((one) => one.name)
    // On one line: `provider "aws" { region = "us-east-1" }`.
    for (const [, inner = "", told = ""] of line
      .slice(0, 400)
      .matchAll(/[{,;]\s{0,20}([\w.-]{1,80})\s{0,20}[:=]\s{0,20}["']?([^"',;}]{1,200})/g))
      found.push(leafOf([...keys, fold(keyName(inner))], told.trim(), group, encoded))
    if (said !== "") found.push(leafOf(keys, said, group, encoded))
  }
  return found
}

function leafOf(keys: readonly string[], text: string, group: number, encoded: boolean): Leaf {
  const value = text === "true" ? true : text === "false" ? false : text
  return { keys, role: roleOf(keys), text, folded: fold(text), value, group, encoded }
}
