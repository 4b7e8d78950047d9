/** Values by label values, one map level for each label, so that a lookup builds no key. */
type Level = { readonly next: Map<string, Level>; value: number }

const newLevel = (): Level => ({ next: new Map(), value: Number.NaN })

function find(level: Level, values: readonly string[]): Level {
  let at = level
  for (const value of values) {
    let next = at.next.get(value)
    if (next === undefined) {
      next = newLevel()
      at.next.set(value, next)
    }
    at = next
  }
  return at
}

function* samplesIn(
  level: Level,
  names: readonly string[],
  labels: readonly MetricLabel[] = [],
): Generator<MetricSample> {
  const [name, ...rest] = names
  if (name === undefined) {
    if (!Number.isNaN(level.value)) yield { labels, value: level.value }
    return
  }
  for (const [value, next] of level.next) yield* samplesIn(next, rest, [...labels, [name, value]])
}

/** True for values that can be added; others are ignored, so that sums stay valid. */
const isAmount = (value: number): boolean => value >= 0 && value < Infinity

export type Registry = ReturnType<typeof createRegistry>

export function createRegistry() {
  const families: MetricFamily[] = []
  const addLabelled = (family: Omit<MetricFamily, "samples">, labels: readonly string[]): Level => {
    const top = newLevel()
    families.push({ ...family, samples: () => samplesIn(top, labels) })
    return top
  }
  return {
    counter: (name: string, help: string, labels: readonly string[] = []) => {
      const top = addLabelled({ name, help, type: "counter" }, labels)
      // A counter without labels starts at 0, so that its first increment is visible.
      if (labels.length === 0) top.value = 0
      return {
        add: (amount: number, ...values: readonly string[]): void => {
          if (!isAmount(amount)) return
          const level = find(top, values)
          level.value = (Number.isNaN(level.value) ? 0 : level.value) + amount
        },
      }
    },
    gauge: (name: string, help: string, labels: readonly string[] = []) => {
      const top = addLabelled({ name, help, type: "gauge" }, labels)
      return {
        set: (value: number, ...values: readonly string[]): void => {
          find(top, values).value = value
        },
      }
    },
    /** A value that is read when the metrics are rendered; undefined if there is none yet. */
    measured: (name: string, help: string, read: () => number | undefined): void => {
      const samples = (): readonly MetricSample[] => {
        const value = read()
        return value === undefined ? [] : [{ labels: [], value }]
      }
      families.push({ name, help, type: "gauge", samples })
    },
    histogram: (name: string, help: string, bounds: readonly number[]) => {
      const { samples, observe } = createHistogram(bounds)
      families.push({ name, help, type: "histogram", samples })
      return { observe }
    },
    render: (): string => writeExposition(families),
  }
}

function createHistogram(bounds: readonly number[]) {
  const counts = new Float64Array(bounds.length + 1)
  let sum = 0
  return {
    samples: (): Iterable<MetricSample> => bucketSamples(bounds, counts, sum),
    observe: (value: number): void => {
      if (!isAmount(value)) return
      let at = 0
      while (at < bounds.length && value > (bounds[at] ?? Infinity)) at += 1
      counts[at] = (counts[at] ?? 0) + 1
      sum += value
    },
  }
}

function* bucketSamples(bounds: readonly number[], counts: Float64Array, sum: number): Generator<MetricSample> {
  let count = 0
  for (const [at, inBucket] of counts.entries()) {
    count += inBucket
    const bound = bounds[at]
    yield { suffix: "_bucket", labels: [["le", bound === undefined ? "+Inf" : String(bound)]], value: count }
  }
  yield { suffix: "_sum", labels: [], value: sum }
  yield { suffix: "_count", labels: [], value: count }
}

type MetricSample = { readonly suffix?: string; readonly labels: readonly MetricLabel[]; readonly value: number }
type MetricLabel = readonly [name: string, value: string]

type MetricFamily = {
  readonly name: string
  readonly help: string
  readonly type: "counter" | "gauge" | "histogram"
  readonly samples: () => Iterable<MetricSample>
}

const escapedHelp = (text: string): string => text.replaceAll("\\", "\\\\").replaceAll("\n", "\\n")
const escapedValue = (text: string): string => escapedHelp(text).replaceAll('"', '\\"')

function formatNumber(value: number): string {
  if (Number.isNaN(value)) return "NaN"
  if (value === Infinity) return "+Inf"
  return value === -Infinity ? "-Inf" : String(value)
}

function lineOf(name: string, { suffix = "", labels, value }: MetricSample): string {
  const pairs = labels.map(([label, text]) => `${label}="${escapedValue(text)}"`).join(",")
  return `${name}${suffix}${pairs === "" ? "" : `{${pairs}}`} ${formatNumber(value)}\n`
}

export const expositionType = "text/plain; version=0.0.4; charset=utf-8"

/** The Prometheus text format 0.0.4: for every metric its help and type, then its values. */
function writeExposition(families: readonly MetricFamily[]): string {
  let text = ""
  for (const { name, help, type, samples } of families) {
    text += `# HELP ${name} ${escapedHelp(help)}\n# TYPE ${name} ${type}\n`
    for (const sample of samples()) text += lineOf(name, sample)
  }
  return text
}

/** Limit on the values of a label: each value is a series in every scrape and on every server. */
export const maxLabelValues = 100
/** Limit on the length of a value; model and tool names are shorter. */
const maxLabelLength = 128

const otherValue = "other"

// Some parsers treat these as the end of the text or of a line.
// biome-ignore lint/suspicious/noControlCharactersInRegex: the pattern matches control characters on purpose
const controls = /[\u0000-\u001f\u007f-\u009f\u2028\u2029]/g

const clean = (text: string): string => text.slice(0, maxLabelLength).toWellFormed().replace(controls, "_")

/** The label value for a name. With `admitted` false, a new name gets `other`. */
export type LabelValues = (name: string, admitted?: boolean) => string

/** External names as label values: cleaned, shortened, and after the first hundred all `other`. */
export function createLabelValues(limit: number = maxLabelValues): LabelValues {
  const known = new Set<string>()
  return (name, admitted = true) => {
    if (name.length <= maxLabelLength && known.has(name)) return name
    const value = clean(name)
    if (known.has(value)) return value
    if (!admitted || known.size >= limit) return otherValue
    known.add(value)
    return value
  }
}
