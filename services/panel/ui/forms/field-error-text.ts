/** The words for what is wrong with single fields. */
import type { TFunction } from 'i18next'
import { ApiProblem, type Fault } from '../../api/problem.ts'
import { sentenceIn } from '../../i18n/index.ts'
import { preferences } from '../../state/preferences.ts'

const SIDES = { '>=': 'least', '<=': 'most', '>': 'more', '<': 'less' } as const

/**
 * What is wrong, for people. The service hands on the sentences of its schema library, which speak of types and
 * patterns; those are put otherwise. What it says in its own words stands as it is, in the language of the reader where
 * there are words for it.
 */
export function faultText({ message }: Pick<Fault, 'message'>, t: TFunction): string {
  const bound =
    /^Too (?:small|big): expected \w+ to (?<what>have|be) (?<sign>[<>]=?)(?<count>-?\d+)(?<unit> \w+)?/.exec(
      message,
    )?.groups
  if (bound) {
    const count = Number(bound.count)
    if (bound.what === 'be') return t(`faults.${SIDES[bound.sign as keyof typeof SIDES]}`, { count })
    const side = bound.sign?.startsWith('>') ? 'least' : 'most'
    if (side === 'least' && count === 1) return t('faults.missing')
    return t(bound.unit === ' characters' ? `faults.${side}Characters` : `faults.${side}Entries`, { count })
  }
  if (/^Invalid input: .*received undefined$/.test(message)) return t('faults.missing')
  if (/^Invalid option: /.test(message)) return t('faults.choice')
  if (/^Invalid (?:input|string|number|[\w.]+ address)\b/.test(message)) return t('faults.form')
  return sentenceIn(preferences().language, message) ?? message
}

/** A fault in words, and where: `/dns/spf/0` is `['dns', 'spf', '0']`. */
export interface Told {
  path: readonly string[]
  text: string
}

/** The faults of a refusal. */
export function faultsIn(error: unknown, t: TFunction): Told[] {
  if (!(error instanceof ApiProblem)) return []
  return error.faults.map(fault => ({
    path: fault.pointer.split(/[/.]/).filter(Boolean),
    text: faultText(fault, t),
  }))
}

/** The field of a form at which a fault is shown: the outermost part of its place that the form knows. */
export function fieldOf({ path }: Told, fields: object): string | undefined {
  return path.find(part => Object.hasOwn(fields, part))
}
