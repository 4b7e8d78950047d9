/** Plots as inline SVG text that loads nothing. */

export const escaped = (text: string): string =>
  text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;").replaceAll('"', "&quot;")

export type Line = { readonly label: string; readonly values: readonly (number | undefined)[] }

const colours = [
  "#b3261e",
  "#1d6fa5",
  "#7a5195",
  "#d98200",
  "#2e7d32",
  "#5d4037",
  "#00838f",
  "#c2185b",
  "#455a64",
  "#827717",
]

/** Returns the colour of a line, the same in every plot. */
export const colourOf = (n: number): string => colours[n % colours.length] ?? "#000"

/** Returns a colour from white at 0 to red at 1; a value of exactly 0 is green. */
export function heat(rate: number): string {
  if (rate === 0) return "#e3f2e6"
  return `hsl(8 78% ${Math.round(95 - 50 * Math.min(1, rate * 1.2))}%)`
}

const text = (x: number, y: number, words: string, more = ""): string =>
  `<text x="${x}" y="${y}" ${more}>${escaped(words)}</text>`

export type HeatMap = {
  readonly rows: readonly string[]
  readonly columns: readonly string[]
  readonly valueAt: (row: number, column: number) => number | undefined
}

const cellWidth = 92
const cellHeight = 30
const labelWidth = 260

/** Returns rates as coloured cells with their figures. */
export function heatMap({ rows, columns, valueAt }: HeatMap): string {
  const width = labelWidth + columns.length * cellWidth
  const height = 40 + rows.length * cellHeight
  const heads = columns.map((name, n) =>
    text(labelWidth + (n + 0.5) * cellWidth, 26, name, 'text-anchor="middle" class="small"'),
  )
  const cells = rows.flatMap((name, y) => [
    text(labelWidth - 10, 40 + (y + 0.65) * cellHeight, name, 'text-anchor="end"'),
    ...columns.flatMap((_, x) => {
      const rate = valueAt(y, x)
      if (rate === undefined) return []
      const [left, top] = [labelWidth + x * cellWidth, 40 + y * cellHeight]
      return [
        `<rect x="${left + 1}" y="${top + 1}" width="${cellWidth - 2}" height="${cellHeight - 2}" rx="3" fill="${heat(rate)}"/>`,
        text(
          left + cellWidth / 2,
          top + 0.65 * cellHeight,
          `${(100 * rate).toFixed(rate > 0 && rate < 0.1 ? 1 : 0)} %`,
          'text-anchor="middle"',
        ),
      ]
    }),
  ])
  return `<svg viewBox="0 0 ${width} ${height}" role="img">${heads.join("")}${cells.join("")}</svg>`
}

export type Plot = { readonly columns: readonly string[]; readonly lines: readonly Line[]; readonly axis: string }

const plotWidth = 640
const plotHeight = 240
const margin = 46

/** Returns a line plot of shares from 0 to 100 % over steps. */
export function linePlot({ columns, lines, axis }: Plot): string {
  const x = (n: number): number => margin + (n * (plotWidth - margin - 20)) / Math.max(1, columns.length - 1)
  const y = (rate: number): number => 14 + (1 - rate) * (plotHeight - 60)
  const grid = [0, 0.25, 0.5, 0.75, 1].flatMap((rate) => [
    `<line x1="${margin}" x2="${plotWidth - 20}" y1="${y(rate)}" y2="${y(rate)}" class="grid"/>`,
    text(margin - 6, y(rate) + 4, `${100 * rate} %`, 'text-anchor="end" class="small"'),
  ])
  const ticks = columns.map((name, n) => text(x(n), plotHeight - 28, name, 'text-anchor="middle" class="small"'))
  const drawn = lines.map(({ values }, n) => {
    const points = values.flatMap((value, at) =>
      value === undefined ? [] : [`${x(at).toFixed(1)},${y(value).toFixed(1)}`],
    )
    const dots = points.map((point) => {
      const [cx, cy] = point.split(",")
      return `<circle cx="${cx}" cy="${cy}" r="3" fill="${colourOf(n)}"/>`
    })
    return `<polyline points="${points.join(" ")}" fill="none" stroke="${colourOf(n)}" stroke-width="2"/>${dots.join("")}`
  })
  const label = text(plotWidth / 2, plotHeight - 8, axis, 'text-anchor="middle" class="small"')
  return `<svg viewBox="0 0 ${plotWidth} ${plotHeight}" role="img">${[...grid, ...ticks, label, ...drawn].join("")}</svg>${legend(lines)}`
}

const legend = (lines: readonly Line[]): string =>
  `<p class="legend">${lines.map(({ label }, n) => `<span><i style="background:${colourOf(n)}"></i>${escaped(label)}</span>`).join("")}</p>`

/** Returns a bar plot with a group for each column. */
export function barPlot({ columns, lines, axis }: Plot): string {
  const group = (plotWidth - margin - 20) / Math.max(1, columns.length)
  const bar = (group - 12) / Math.max(1, lines.length)
  const y = (rate: number): number => 14 + (1 - rate) * (plotHeight - 60)
  const grid = [0, 0.5, 1].flatMap((rate) => [
    `<line x1="${margin}" x2="${plotWidth - 20}" y1="${y(rate)}" y2="${y(rate)}" class="grid"/>`,
    text(margin - 6, y(rate) + 4, `${100 * rate} %`, 'text-anchor="end" class="small"'),
  ])
  const bars = columns.flatMap((name, at) => [
    text(margin + (at + 0.5) * group, plotHeight - 28, name, 'text-anchor="middle" class="small"'),
    ...lines.flatMap(({ values }, n) => {
      const value = values[at]
      if (value === undefined) return []
      const left = margin + at * group + 6 + n * bar
      const top = Math.min(y(value), y(0) - 1)
      return [
        `<rect x="${left.toFixed(1)}" y="${top.toFixed(1)}" width="${(bar - 1).toFixed(1)}" height="${(y(0) - top).toFixed(1)}" fill="${colourOf(n)}"/>`,
      ]
    }),
  ])
  const label = text(plotWidth / 2, plotHeight - 8, axis, 'text-anchor="middle" class="small"')
  return `<svg viewBox="0 0 ${plotWidth} ${plotHeight}" role="img">${[...grid, ...bars, label].join("")}</svg>${legend(lines)}`
}
