/** The first texts of a list and how many more there are; the pointer shows all of them. */
export function ShortList({ of: texts, most }: { of: readonly string[]; most: number }) {
  const more = texts.length - most
  return (
    <span title={texts.join(', ')}>
      {texts.slice(0, most).join(', ')}
      {more > 0 ? ` +${more}` : ''}
    </span>
  )
}
