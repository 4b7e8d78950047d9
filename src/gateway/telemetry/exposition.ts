/** One value of a metric, with its labels. */
export type MetricSample = { readonly suffix?: string; readonly labels: readonly MetricLabel[]; readonly value: number }
export type MetricLabel = readonly [name: string, value: string]

export type MetricFamily = {
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
export function writeExposition(families: readonly MetricFamily[]): string {
  let text = ""
  for (const { name, help, type, samples } of families) {
    text += `# HELP ${name} ${escapedHelp(help)}\n# TYPE ${name} ${type}\n`
    for (const sample of samples()) text += lineOf(name, sample)
  }
  return text
}
