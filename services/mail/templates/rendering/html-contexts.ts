/**
 * Finds the places of an HTML text where values stand, by the tokenizer of the HTML standard, and escapes them for that
 * place. Only known places are allowed: whatever the tokenizer does not report as one of them is refused.
 */
import { type Token, Tokenizer, TokenizerMode } from 'parse5'
import { type Sentence, sentence } from '../../../platform/sentences/sentence.ts'
import { writeInTurns } from './write-in-turns.ts'

/** A place for a value, and all that stands in the same attribute, with the marks of its values. */
export type Place =
  | { kind: 'text' }
  | { kind: 'attribute' }
  | { kind: 'url'; attribute: string }
  | { kind: 'style' }
  | { kind: 'refused'; reason: Sentence }

/** Mark of the value with this number: noncharacters, which templates may not contain. */
export function markOf(index: number): string {
  return `\uFDD0${index}\uFDD1`
}

/** Characters that the marks are made of. */
export const MARK_CHARACTERS = /[\uFDD0\uFDD1]/
/** References that the tokenizer would read as the characters of a mark. */
const FORGED_MARK = /&#(?:x0*fdd[01]|0*6497[67])/i
const MARK = /\uFDD0(\d+)\uFDD1/g

/** Attributes that hold one URL. */
const URLS = new Set(
  'action background cite classid codebase data dynsrc formaction href icon longdesc lowsrc poster profile src usemap xlink:href'.split(
    ' ',
  ),
)
/** Attributes that hold code, several URLs, or a document. */
const REFUSED_ATTRIBUTES = /^(?:on.*|srcdoc|srcset|imagesrcset|ping|archive|manifest|http-equiv|content|xmlns.*)$/
/** Elements whose attributes decide what is loaded or run. */
const REFUSED_ELEMENTS = new Set(
  'applet base embed frame iframe link meta object param script style svg math animate set animatetransform animatemotion'.split(
    ' ',
  ),
)
/** Elements whose content is no HTML; values are allowed in none but the last two. */
const MODES: Readonly<Record<string, number>> = {
  script: TokenizerMode.SCRIPT_DATA,
  style: TokenizerMode.RAWTEXT,
  xmp: TokenizerMode.RAWTEXT,
  iframe: TokenizerMode.RAWTEXT,
  noembed: TokenizerMode.RAWTEXT,
  noframes: TokenizerMode.RAWTEXT,
  plaintext: TokenizerMode.PLAINTEXT,
  title: TokenizerMode.RCDATA,
  textarea: TokenizerMode.RCDATA,
}

/** The place of each marked value that may be filled; a mark that is missing stands where no value may. */
export async function findPlaces(html: string): Promise<Map<number, Place>> {
  const places = new Map<number, Place>()
  if (FORGED_MARK.test(html)) return places
  const note = (text: string, place: Place) => {
    for (const index of marksIn(text)) places.set(index, place)
  }
  let element = ''
  let content = ''
  const flush = () => {
    // Some clients read markup inside of a title as markup.
    const allowed = element === '' || (MODES[element] === TokenizerMode.RCDATA && !content.includes('<'))
    if (allowed) note(content, { kind: 'text' })
    content = ''
  }
  const tokenizer = new Tokenizer(
    { sourceCodeLocationInfo: true },
    {
      onStartTag(token) {
        flush()
        notePlaces(token, html, note)
        element = Object.hasOwn(MODES, token.tagName) ? token.tagName : ''
        if (element !== '') tokenizer.state = MODES[element] ?? tokenizer.state
      },
      onEndTag() {
        flush()
        element = ''
      },
      onCharacter: ({ chars }) => {
        content += chars
      },
      onWhitespaceCharacter: ({ chars }) => {
        content += chars
      },
      onNullCharacter: () => undefined,
      onComment: flush,
      onDoctype: flush,
      onEof: flush,
    },
  )
  await writeInTurns(tokenizer, html)
  return places
}

function marksIn(text: string): number[] {
  return [...text.matchAll(MARK)].map(([, index]) => Number(index))
}

/** An attribute whose value is in quotes; its name may begin with an equals sign. */
const QUOTED = /^=?[^=]*=\s*["']/

function notePlaces(token: Token.TagToken, html: string, note: (text: string, place: Place) => void): void {
  for (const { name, value } of token.attrs) {
    if (!value.includes('\uFDD0')) continue
    const { startOffset = 0, endOffset = 0 } = token.location?.attrs?.[name] ?? {}
    const quoted = QUOTED.test(html.slice(startOffset, endOffset))
    note(value, quoted ? placeIn(token.tagName, name, value) : refused(sentence('field.template_unquoted', { name })))
  }
}

function placeIn(element: string, name: string, value: string): Place {
  if (REFUSED_ELEMENTS.has(element)) return refused(sentence('field.template_element', { name: element }))
  if (REFUSED_ATTRIBUTES.test(name)) return refused(sentence('field.template_attribute', { name }))
  if (name === 'style') return { kind: 'style' }
  return URLS.has(name) ? { kind: 'url', attribute: value } : { kind: 'attribute' }
}

function refused(reason: Sentence): Place {
  return { kind: 'refused', reason }
}

/** Schemes that an address made with values may have; addresses without a scheme are relative. */
const SCHEMES = ['https', 'http', 'mailto', 'tel', 'sms', 'cid'] as const
/** What browsers skip before or inside of a scheme: controls and blanks. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what it looks for
const SKIPPED = /[\u0000-\u0020\u007f-\u00a0\u1680\u2000-\u200f\u2028-\u202f\u205f-\u206f\u3000\ufeff]/g

/** Why an address may not be used; undefined when it may. */
export function findUrlError(url: string): Sentence | undefined {
  const scheme = /^([^/?#:]*):/.exec(url.replaceAll(SKIPPED, ''))?.[1]?.toLowerCase()
  if (scheme === undefined || (SCHEMES as readonly string[]).includes(scheme)) return undefined
  return sentence('field.template_url', { scheme: scheme.slice(0, 32), schemes: SCHEMES })
}

/** The attribute with its values in place of their marks. */
export function fillMarks(text: string, valueAt: (index: number) => string): string {
  return text.replaceAll(MARK, (_, index: string) => valueAt(Number(index)))
}

/** Values of a style: words, numbers, colours. No address, no function, no further declaration. */
export const STYLE_VALUE = /^[\w#%., -]*$/

/** HTML-escapes a value for text and quoted attributes, without control characters. */
export function escapeHtml(value: string): string {
  return value
    .replaceAll(CONTROLS, '')
    .replaceAll(/[&<>"'`]/g, character => ENTITIES[character] ?? character)
    .toWellFormed()
}

/** True after the beginning of a character reference, such as `&#`, which the value could complete. */
export function isInReference(output: string): boolean {
  return /&#?\w*$/.test(output)
}

/** The same with letters and digits as references of their own, so that they complete none. */
export function escapeAll(value: string): string {
  return value
    .replaceAll(CONTROLS, '')
    .toWellFormed()
    .replaceAll(/[\w#&<>"'`;]/g, character => `&#${character.charCodeAt(0)};`)
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what it looks for
const CONTROLS = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f]/g
const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
  '`': '&#96;',
}
