/** Whole numbers for the lines of a chart's axis, from 0 to at least `most` in up to four equal steps of 1, 2 or 5 × 10ⁿ. */
export function axisTicks(most: number): number[] {
  const least = Math.max(most, 1) / 4
  const power = 10 ** Math.max(0, Math.floor(Math.log10(least)))
  const step = power * ([1, 2, 5].find(factor => factor * power >= least) ?? 10)
  return Array.from({ length: Math.ceil(Math.max(most, 1) / step) + 1 }, (_, index) => index * step)
}
