/** Attributes of a sample user as text, one `name=value` on each line. */

/** Undefined without any. Lines without a name are ignored: they are being typed. */
export function attributesOf(text: string): Record<string, string> | undefined {
  const pairs = text.split('\n').flatMap(line => {
    const at = line.indexOf('=')
    const name = line.slice(0, Math.max(at, 0)).trim()
    return name === '' ? [] : [[name, line.slice(at + 1).trim()] as const]
  })
  return pairs.length === 0 ? undefined : Object.fromEntries(pairs)
}
