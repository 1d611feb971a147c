/** The domain filter that a webhook provider reports: which names it serves. */
import { z } from 'zod'
import { canonicalName, isWithin } from '../../records/names.ts'

/** Names of a list, and characters of one, as people read it: bounded, since the server is the account's choice. */
const [MAX_NAMES, MAX_NAME] = [10_000, 512]

const names = z
  .array(z.string().max(MAX_NAME))
  .max(MAX_NAMES)
  .nullish()
  .transform(list => (list ?? []).map(toSuffix).filter(({ name }) => name !== ''))

/** Names below a domain, or a domain and the names below it. */
interface Suffix {
  name: string
  /** Written with a leading dot: the domain itself is not included. */
  belowOnly: boolean
}

/** Without `include` a provider serves every name. */
export interface DomainFilter {
  include: readonly Suffix[]
  exclude: readonly Suffix[]
  /** The filter is a regular expression of RE2, which is not evaluated here: zones must be named in the account. */
  isExpression: boolean
}

/** The JSON form of the filter. */
export const domainFilter = z
  .looseObject({
    include: names,
    exclude: names,
    regexInclude: z.string().nullish(),
    regexExclude: z.string().nullish(),
  })
  .nullable()
  .transform(
    (filter): DomainFilter => ({
      include: filter?.include ?? [],
      exclude: filter?.exclude ?? [],
      isExpression: Boolean(filter?.regexInclude || filter?.regexExclude),
    }),
  )

/** True when the provider serves the name, as far as that can be known here. */
export function serves({ include, exclude, isExpression }: DomainFilter, name: string): boolean {
  if (isExpression) return true
  const matches = (suffix: Suffix) => isWithin(name, suffix.name) && !(suffix.belowOnly && name === suffix.name)
  return (include.length === 0 || include.some(matches)) && !exclude.some(matches)
}

/** The domains of the filter; empty for a provider that serves every name. */
export function domainsOf({ include, isExpression }: DomainFilter): string[] {
  return isExpression ? [] : [...new Set(include.map(({ name }) => name))]
}

function toSuffix(text: string): Suffix {
  const trimmed = text.trim()
  return { name: canonicalName(trimmed.replace(/^\./, '')), belowOnly: trimmed.startsWith('.') }
}
