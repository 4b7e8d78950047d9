import type { ComponentChildren } from "preact"
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks"

/** Time in a frame for rendering rows; their layout and painting take twice as much again. */
const frameBudgetMs = 1
const waiting = new Set<() => void>()
let frameEndMs = 0

function hasFrameTime(): boolean {
  const now = performance.now()
  if (frameEndMs === 0) {
    frameEndMs = now + frameBudgetMs
    requestAnimationFrame(() => {
      frameEndMs = 0
      const rows = [...waiting]
      waiting.clear()
      for (const row of rows) row()
    })
  }
  return now < frameEndMs
}

/** Returns the newest value as soon as a frame has time for it, until then the previous one, or undefined. */
export function useDeferred<Value>(value: Value): Value | undefined {
  const drawn = useRef<Value | undefined>(undefined)
  const [, again] = useState(0)
  const wake = useRef(() => again((n) => n + 1)).current
  useEffect(() => () => void waiting.delete(wake), [])
  if (drawn.current !== value && hasFrameTime()) drawn.current = value
  if (drawn.current !== value) waiting.add(wake)
  return drawn.current
}

type VirtualProps = {
  readonly total: number
  readonly height: number
  readonly label: string
  readonly renderRow: (index: number) => ComponentChildren
  /** Called with the range of visible rows, to load them. */
  readonly onRange?: (from: number, to: number) => void
  readonly class?: string
  /** For rows that change places: an element stays with its row. Without it, elements that leave at one end are reused at the other. */
  readonly keyOf?: (index: number) => string | number
}

/** Rows within this distance in pixels are rendered before they are visible, so that a fast scroll shows no gap. */
const overscanPixels = 204

/** A list of rows of equal height that renders only those in view. */
export function Virtual({ total, height, label, renderRow, onRange, keyOf, class: name = "" }: VirtualProps) {
  const box = useRef<HTMLDivElement>(null)
  const [top, setTop] = useState(0)
  const [seen, setSeen] = useState(600)
  useLayoutEffect(() => {
    const element = box.current
    if (element === null) return
    const observer = new ResizeObserver(() => setSeen(element.clientHeight))
    observer.observe(element)
    return () => observer.disconnect()
  }, [])
  const rowsBeyond = Math.ceil(overscanPixels / height)
  const from = Math.max(0, Math.floor(top / height) - rowsBeyond)
  const to = Math.min(total, Math.ceil((top + seen) / height) + rowsBeyond)
  useEffect(() => onRange?.(from, to), [from, to, total, onRange])
  const pool = Math.ceil(seen / height) + 2 * rowsBeyond + 1
  const shown = Array.from({ length: Math.max(0, to - from) }, (_, n) => from + n)
  return (
    <div
      ref={box}
      class={`virtual ${name}`}
      style={{ maxHeight: `${Math.max(1, total) * height + 1}px` }}
      onScroll={(event) => setTop(event.currentTarget.scrollTop)}
      // biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls has to be reached by the keyboard
      tabIndex={0}
      role="region"
      aria-label={label}
    >
      <div
        class="virtual-body"
        role="list"
        aria-label={label}
        style={{ height: `${total * height}px`, paddingTop: `${from * height}px` }}
      >
        {shown.map((index) => (
          <div
            key={keyOf?.(index) ?? index % pool}
            role="listitem"
            aria-setsize={total}
            aria-posinset={index + 1}
            class="virtual-row"
            style={{ height: `${height}px` }}
          >
            {renderRow(index)}
          </div>
        ))}
      </div>
    </div>
  )
}
