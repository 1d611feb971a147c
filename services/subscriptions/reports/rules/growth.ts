/** Rates and growth: always finite numbers with two decimals. */

/** Growth in percent. From zero to a positive value it is 100, from zero to zero 0. */
export function growth(current: number, previous: number): number {
  if (previous === 0) return current > 0 ? 100 : 0
  return round2(((current - previous) / previous) * 100)
}

/** A share in percent; 0 of nothing. */
export function share(part: number, total: number): number {
  return total === 0 ? 0 : round2((part / total) * 100)
}

/** Rounds to two decimals. */
export function round2(value: number): number {
  const rounded = Math.round(value * 100) / 100
  return rounded === 0 ? 0 : rounded
}
