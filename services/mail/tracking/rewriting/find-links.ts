/** Finds in HTML what tracking changes: the addresses of links, and the place for an image. */
import { type Token, Tokenizer } from 'parse5'
import { TEXT_ELEMENTS } from '../../templates/rendering/text-elements.ts'
import { writeInTurns } from '../../templates/rendering/write-in-turns.ts'

/** An `href` attribute with its name and quotes; `value` has its character references decoded. */
export interface FoundLink {
  start: number
  end: number
  value: string
}

/** Places in a document; positions count code units of the given text. */
export interface FoundPlaces {
  links: FoundLink[]
  /** Before the end of the body, where an image is still part of it. */
  imageAt: number
}

/** A link with this attribute is left alone. */
const OPT_OUT = 'data-no-track'
/** Most links of a message that are tracked; further ones are left alone. Each is encrypted for each recipient. */
export const MAX_LINKS = 1_000

/** Other languages within HTML: their links are not those of a mail's text. */
const FOREIGN = new Set(['svg', 'math'])

/** Reads the text once, whatever its form, with a turn for others after each part. */
export async function findPlaces(html: string): Promise<FoundPlaces> {
  const links: FoundLink[] = []
  let end: { tag: string; at: number } | undefined
  let foreign = 0
  const tokenizer = new Tokenizer(
    { sourceCodeLocationInfo: true },
    {
      onStartTag(token) {
        const { tagName } = token
        if (FOREIGN.has(tagName) && !token.selfClosing) foreign++
        tokenizer.state = TEXT_ELEMENTS.get(tagName) ?? tokenizer.state
        const link = tagName === 'a' && foreign === 0 && links.length < MAX_LINKS ? linkOf(token) : undefined
        if (link) links.push(link)
      },
      onEndTag({ tagName, location }) {
        if (FOREIGN.has(tagName)) foreign = Math.max(0, foreign - 1)
        const isEnd = tagName === 'body' || (tagName === 'html' && end?.tag !== 'body')
        if (isEnd && location) end = { tag: tagName, at: location.startOffset }
      },
      onCharacter: () => undefined,
      onWhitespaceCharacter: () => undefined,
      onNullCharacter: () => undefined,
      onComment: () => undefined,
      onDoctype: () => undefined,
      onEof: () => undefined,
    },
  )
  await writeInTurns(tokenizer, html)
  return { links, imageAt: end?.at ?? html.length }
}

/** The address of a link; of two attributes with the name the first counts. */
function linkOf({ attrs, location }: Token.TagToken): FoundLink | undefined {
  const href = attrs.find(({ name }) => name === 'href')
  const place = location?.attrs?.href
  if (!href || !place || attrs.some(({ name }) => name === OPT_OUT)) return undefined
  return { start: place.startOffset, end: place.endOffset, value: href.value }
}

/** The value of an attribute as it is written, with its character references decoded. */
export function attributeValue(written: string): string {
  let value = ''
  const ignore = () => undefined
  const tokenizer = new Tokenizer(
    {},
    {
      onStartTag: ({ attrs }) => {
        value = attrs[0]?.value ?? ''
      },
      ...{ onEndTag: ignore, onCharacter: ignore, onWhitespaceCharacter: ignore, onNullCharacter: ignore },
      ...{ onComment: ignore, onDoctype: ignore, onEof: ignore },
    },
  )
  tokenizer.write(`<a ${written}>`, true)
  return value
}
