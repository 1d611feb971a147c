/** Input as the SDKs send it: fields that are null or an empty list are not given; unknown fields are ignored. */

/** A member of a JSON object. */
export type Fields = Readonly<Record<string, unknown>>

/** True for an object that is no list. */
export function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** True for what PHP and Laravel send for a field without a value. */
export function isAbsent(value: unknown): boolean {
  return value === undefined || value === null || (Array.isArray(value) && value.length === 0)
}

/** The given ones among these fields; those of anything but an object are none. */
export function given<Name extends string>(body: unknown, names: readonly Name[]): Partial<Record<Name, unknown>> {
  if (!isFields(body)) return {}
  const found = names.filter(name => Object.hasOwn(body, name) && !isAbsent(body[name])).map(name => [name, body[name]])
  return Object.fromEntries(found) as Partial<Record<Name, unknown>>
}

/** The first name under which a value is given. */
export function oneOf(body: Fields, names: readonly string[]): unknown {
  const name = names.find(candidate => Object.hasOwn(body, candidate) && !isAbsent(body[candidate]))
  return name === undefined ? undefined : body[name]
}

/** Without members that are undefined. */
export function defined<T extends object>(value: T): Partial<T> {
  return Object.fromEntries(Object.entries(value).filter(([, member]) => member !== undefined)) as Partial<T>
}
