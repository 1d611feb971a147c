/** Finds the links of a message, for programs that follow them. */
import { type Token, Tokenizer } from 'parse5'
import { TEXT_ELEMENTS } from '../../templates/rendering/text-elements.ts'
import { writeInTurns } from '../../templates/rendering/write-in-turns.ts'

/** A link with the words that it lies on; of plain text these are the address. */
export interface MessageLink {
  href: string
  text: string
}

/** Links that are answered. */
export const MAX_LINKS = 500
/** Longest address and text. */
const MAX_HREF = 8_192
const MAX_WORDS = 500
const IN_TEXT = /\bhttps?:\/\/[^\s<>"'`]{1,8192}/gi
/** Addresses in the text that are looked at: it may repeat one. */
const MAX_MATCHES = 10 * MAX_LINKS
/** Punctuation of the sentence around an address. */
const TRAILING = new Set('.,;:!?)]}»”’。，；：！？）】')

/** Those of the HTML, then those of the text that the HTML does not have; each address and text once. */
export async function findLinks({
  html,
  text,
}: {
  html: string | undefined
  text: string | undefined
}): Promise<MessageLink[]> {
  const links = html === undefined ? [] : await linksOfHtml(html)
  const known = new Set(links.map(({ href }) => href))
  for (const [written] of (text ?? '').matchAll(IN_TEXT).take(MAX_MATCHES)) {
    if (links.length >= MAX_LINKS) break
    if (known.has(written)) continue
    const href = withoutPunctuation(written)
    if (known.has(href)) continue
    known.add(href)
    links.push({ href, text: href })
  }
  return links
}

async function linksOfHtml(html: string): Promise<MessageLink[]> {
  const found = new Map<string, MessageLink>()
  let open: MessageLink | undefined
  const close = () => {
    if (!open) return
    const link = { href: open.href, text: open.text.replaceAll(/\s+/g, ' ').trim() }
    if (found.size < MAX_LINKS) found.set(`${link.href} ${link.text}`, link)
    open = undefined
  }
  const add = ({ chars }: Pick<Token.CharacterToken, 'chars'>) => {
    if (open && open.text.length < MAX_WORDS) open.text = (open.text + chars).slice(0, MAX_WORDS)
  }
  const tokenizer = new Tokenizer(
    {},
    {
      onStartTag({ tagName, attrs }) {
        tokenizer.state = TEXT_ELEMENTS.get(tagName) ?? tokenizer.state
        if (tagName === 'img') add({ chars: ` ${attribute(attrs, 'alt')}` })
        if (tagName !== 'a' && tagName !== 'area') return
        close()
        const href = attribute(attrs, 'href')
        if (leadsSomewhere(href)) open = { href, text: tagName === 'area' ? attribute(attrs, 'alt') : '' }
        if (tagName === 'area') close()
      },
      onEndTag({ tagName }) {
        if (tagName === 'a') close()
      },
      onCharacter: add,
      onWhitespaceCharacter: add,
      onNullCharacter: () => undefined,
      onComment: () => undefined,
      onDoctype: () => undefined,
      onEof: () => undefined,
    },
  )
  await writeInTurns(tokenizer, html)
  close()
  return [...found.values()]
}

function attribute(attrs: Token.TagToken['attrs'], name: string): string {
  return attrs.find(one => one.name === name)?.value.trim() ?? ''
}

/** A place within the message leads nowhere. */
function leadsSomewhere(href: string): boolean {
  return href !== '' && !href.startsWith('#') && href.length <= MAX_HREF
}

/** A closing bracket stays where the address has an opening one. */
function withoutPunctuation(written: string): string {
  let end = written.length
  while (TRAILING.has(written.charAt(end - 1))) end--
  const trimmed = written.slice(0, end)
  return written[trimmed.length] === ')' && trimmed.includes('(') ? `${trimmed})` : trimmed
}
