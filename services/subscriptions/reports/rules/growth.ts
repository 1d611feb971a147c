/** Rates and growth: always finite numbers with two decimals. */

/** Growth in percent. From nothing to something is 100, from nothing to nothing 0. */
export function growth(current: number, previous: number): number {
  if (previous === 0) return current > 0 ? 100 : 0
  return round2(((current - previous) / previous) * 100)
}

/** A share in percent; of nothing it is 0. */
export function share(part: number, whole: number): number {
  return whole === 0 ? 0 : round2((part / whole) * 100)
}

/** Two decimals. */
export function round2(value: number): number {
  const rounded = Math.round(value * 100) / 100
  return rounded === 0 ? 0 : rounded
}
