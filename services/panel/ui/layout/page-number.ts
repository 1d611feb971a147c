/** Parses a page number of an address; undefined for the first page and invalid values. */
export function pageNumber(raw: unknown): number | undefined {
  const number = Number(raw)
  return Number.isInteger(number) && number > 1 ? number : undefined
}
