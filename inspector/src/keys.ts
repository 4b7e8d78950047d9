import { useEffect } from "preact/hooks"

/** Keyboard shortcuts of a page, with a description for the list of keys. */
export type KeyMap = Readonly<Record<string, { readonly words: string; readonly run: () => void }>>

const maps: KeyMap[] = []

/** Registers the shortcuts of a page for as long as it is shown. The newest page's take precedence. */
export function useKeys(map: KeyMap): void {
  useEffect(() => {
    maps.unshift(map)
    return () => {
      maps.splice(maps.indexOf(map), 1)
    }
  })
}

export const knownKeys = (): readonly (readonly [string, string])[] => {
  const seen = new Map<string, string>()
  for (const map of maps) for (const [key, { words }] of Object.entries(map)) if (!seen.has(key)) seen.set(key, words)
  return [...seen]
}

const isTyping = (target: EventTarget | null): boolean =>
  target instanceof HTMLElement && (target.isContentEditable || /^(?:INPUT|TEXTAREA|SELECT)$/.test(target.tagName))

let before: string | undefined

addEventListener("keydown", (event) => {
  const { key, target } = event
  // A dialog has its own keys, and Escape closes it.
  if (document.querySelector("dialog[open]") !== null) return
  const name =
    (event.metaKey || event.ctrlKey ? "mod+" : "") +
    (event.shiftKey && key.length === 1 ? `shift+${key.toLowerCase()}` : key)
  if (isTyping(target) && !name.startsWith("mod+") && key !== "Escape") return
  if (event.altKey || ((event.metaKey || event.ctrlKey) && name !== "mod+k")) return
  const sequence = before === undefined ? name : `${before} ${name}`
  before = name === "g" ? "g" : undefined
  const plain = key === "?" ? "?" : name
  for (const map of maps) {
    const found = map[sequence] ?? map[plain]
    if (found === undefined) continue
    event.preventDefault()
    before = undefined
    found.run()
    return
  }
})

/** Moves the focus to the next or the previous element of a list. */
export function moveFocus(selector: string, step: 1 | -1): void {
  const all = [...document.querySelectorAll<HTMLElement>(selector)]
  const at = all.findIndex((element) => element.matches(":focus"))
  const next = all[at < 0 ? (step > 0 ? 0 : all.length - 1) : Math.min(all.length - 1, Math.max(0, at + step))]
  next?.focus()
  next?.scrollIntoView({ block: "nearest" })
}
