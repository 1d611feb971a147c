/** The text of an HTML part, for templates without a text of their own. */
import { type Token, Tokenizer } from 'parse5'
import { TEXT_ELEMENTS } from './text-elements.ts'
import { writeInTurns } from './write-in-turns.ts'

/** Elements that begin a line, and those that begin a paragraph. */
const LINES = new Set(
  'address article aside blockquote br dd div dl dt fieldset figure footer form header hr li main nav section tr'.split(
    ' ',
  ),
)
const PARAGRAPHS = new Set('h1 h2 h3 h4 h5 h6 ol p pre table ul'.split(' '))
/** Elements whose text a browser shows. */
const SHOWN = new Set(['textarea', 'plaintext'])

/**
 * Text with its line breaks: paragraphs are parted by an empty line, list entries begin with "- ", a link is followed by
 * its address, an image is its `alt`. Reads the text once, whatever its form.
 */
export async function htmlToText(html: string): Promise<string> {
  const writer = new TextWriter()
  let link: { href: string; from: number } | undefined
  const tokenizer = new Tokenizer(
    {},
    {
      onStartTag(token) {
        const state = TEXT_ELEMENTS.get(token.tagName)
        writer.skipping = state !== undefined && !SHOWN.has(token.tagName)
        tokenizer.state = state ?? tokenizer.state
        if (token.tagName === 'a') link = { href: attribute(token, 'href'), from: writer.words.length }
        else if (token.tagName === 'img') writer.add(attribute(token, 'alt'))
        else writer.breakFor(token.tagName)
        if (token.tagName === 'li') writer.add('- ')
        if (token.tagName === 'td' || token.tagName === 'th') writer.add(' ')
      },
      onEndTag({ tagName }) {
        writer.skipping = false
        if (tagName !== 'a') return writer.breakFor(tagName)
        if (link) writer.addAddress(link.href, link.from)
        link = undefined
      },
      onCharacter: ({ chars }) => writer.add(chars),
      onWhitespaceCharacter: ({ chars }) => writer.add(chars),
      onNullCharacter: () => undefined,
      onComment: () => undefined,
      onDoctype: () => undefined,
      onEof: () => undefined,
    },
  )
  await writeInTurns(tokenizer, html)
  return writer.finish()
}

function attribute({ attrs }: Token.TagToken, name: string): string {
  return attrs.find(one => one.name === name)?.value.trim() ?? ''
}

/** Joins words with one blank, and lines as they are asked for. */
class TextWriter {
  readonly words: string[] = []
  skipping = false
  private breaks = 0
  private blank = false

  add(text: string): void {
    if (this.skipping) return
    const words = text.replaceAll(/[\s\u00a0]+/g, ' ')
    if (words.trim() === '') {
      this.blank ||= words !== ''
      return
    }
    if (this.words.length > 0) this.words.push(this.breaks > 0 ? '\n'.repeat(this.breaks) : this.gapBefore(words))
    this.words.push(words.trim())
    this.breaks = 0
    this.blank = words.endsWith(' ')
  }

  breakFor(element: string): void {
    if (PARAGRAPHS.has(element)) this.breaks = 2
    else if (LINES.has(element))
      this.breaks = element === 'br' ? Math.min(2, this.breaks + 1) : Math.max(1, this.breaks)
  }

  /** Follows the words since `from`, unless they are the address themselves. */
  addAddress(href: string, from: number): void {
    if (!/^(?:https?:|mailto:|tel:)/i.test(href)) return
    const label = this.words.slice(from).join('').trim()
    if (label !== href && `mailto:${label}` !== href) this.add(label === '' ? href : ` (${href})`)
  }

  finish(): string {
    const text = this.words.join('')
    return text === '' ? '' : `${text}\n`
  }

  private gapBefore(words: string): string {
    return this.blank || words.startsWith(' ') ? ' ' : ''
  }
}
