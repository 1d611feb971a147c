/** Label selectors of Kubernetes, for the labels of Namespaces: pure. */

/** A selector as the API server stores it. */
export interface LabelSelector {
  matchLabels?: Readonly<Record<string, string>> | undefined
  matchExpressions?:
    | readonly {
        key: string
        operator: 'In' | 'NotIn' | 'Exists' | 'DoesNotExist'
        values?: readonly string[] | undefined
      }[]
    | undefined
}

/** True when all conditions hold; without any, every object is selected. */
export function selects(
  { matchLabels = {}, matchExpressions = [] }: LabelSelector,
  labels: Readonly<Record<string, string>>,
): boolean {
  const labelOf = (key: string) => (Object.hasOwn(labels, key) ? labels[key] : undefined)
  return (
    Object.entries(matchLabels).every(([key, value]) => labelOf(key) === value) &&
    matchExpressions.every(({ key, operator, values = [] }) => {
      const value = labelOf(key)
      if (operator === 'Exists') return value !== undefined
      if (operator === 'DoesNotExist') return value === undefined
      const isListed = value !== undefined && values.includes(value)
      return operator === 'In' ? isListed : !isListed
    })
  )
}
