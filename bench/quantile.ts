/** Returns the quantile of a list: the value at this share of the sorted list. */
export const quantile = (values: readonly number[], share: number): number =>
  [...values].sort((one, other) => one - other)[Math.min(values.length - 1, Math.floor(values.length * share))] ??
  Number.NaN

export const median = (values: readonly number[]): number => quantile(values, 0.5)
