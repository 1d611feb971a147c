/** Renders subject, html and text of a template; each value is escaped for its place. */
import { type Sentence, sentence } from '../../../platform/sentences/sentence.ts'
import { TEMPLATE_LIMITS } from '../rules/template-limits.ts'
import type { TemplateValues, TemplateVariable } from '../rules/template-values.ts'
import { Inserted, type ParsedPart, type Pieces, parsePart, renderPart } from './engine.ts'
import {
  escapeAll,
  escapeHtml,
  fillMarks,
  findPlaces,
  findUrlError,
  isInReference,
  markOf,
  type Place,
  STYLE_VALUE,
} from './html-contexts.ts'
import { htmlToText } from './html-to-text.ts'
import { TemplateError } from './template-error.ts'

/** What a template consists of. At least one of html and text is present. */
export interface TemplateContent {
  subject: string
  html?: string | undefined
  text?: string | undefined
  variables: readonly TemplateVariable[]
}

/** A template that was parsed, ready for any number of renderings. */
export interface ParsedTemplate {
  variables: readonly TemplateVariable[]
  subject: ParsedPart
  html?: ParsedPart
  text?: ParsedPart
}

/** The parts of a message. */
export interface RenderedTemplate {
  subject: string
  html?: string
  text: string
  /** The text was made from the html. */
  textIsDerived: boolean
}

/** Parses all parts. Throws {@link TemplateError}. */
export function parseTemplate({ subject, html, text, variables }: TemplateContent): ParsedTemplate {
  return {
    variables,
    subject: parsePart('subject', subject),
    ...(html !== undefined && { html: parsePart('html', html) }),
    ...(text !== undefined && { text: parsePart('text', text) }),
  }
}

/** Renders all parts, or with `subject` another subject line as it is. Throws {@link TemplateError}. */
export async function renderTemplate(
  template: ParsedTemplate,
  values: TemplateValues,
  { subject }: { subject?: string | undefined } = {},
): Promise<RenderedTemplate> {
  const html = template.html && (await renderHtml(template.html, values))
  const text = template.text && renderText(template.text, values)
  return {
    subject: subject ?? renderSubject(template.subject, values),
    ...(html !== undefined && { html }),
    text: text ?? (await htmlToText(html ?? '')),
    textIsDerived: text === undefined,
  }
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what it looks for
const HEADER_CONTROLS = /[\u0000-\u001f\u007f-\u009f\u2028\u2029]+/g

/** One line, whatever the values hold: control characters become a blank. */
function renderSubject(part: ParsedPart, values: TemplateValues): string {
  const subject = joined(renderPart(part, values), value => value)
    .replaceAll(HEADER_CONTROLS, ' ')
    .trim()
    .toWellFormed()
  if (subject.length > TEMPLATE_LIMITS.subject)
    throw new TemplateError('subject', part.source, 0, sentence('field.too_long', { count: TEMPLATE_LIMITS.subject }))
  return subject
}

/** Not escaped; a text part has no markup. NUL would end it. */
function renderText(part: ParsedPart, values: TemplateValues): string {
  return joined(renderPart(part, values), value => value)
    .replaceAll('\0', '')
    .toWellFormed()
}

function joined(pieces: Pieces, show: (value: string) => string): string {
  return pieces.map(piece => (piece instanceof Inserted ? show(piece.value) : piece)).join('')
}

async function renderHtml(part: ParsedPart, values: TemplateValues): Promise<string> {
  const pieces = renderPart(part, values)
  const inserted = pieces.filter(piece => piece instanceof Inserted)
  const places = await findPlaces(withMarks(pieces))
  const urls = new Map<Place, Sentence | undefined>()
  const urlError = (place: UrlPlace) => {
    if (!urls.has(place))
      urls.set(place, findUrlError(fillMarks(place.attribute, index => inserted[index]?.value ?? '')))
    return urls.get(place)
  }
  const output: string[] = []
  let tail = ''
  let index = 0
  for (const piece of pieces) {
    const text = piece instanceof Inserted ? escapeFor(places.get(index++), piece, tail, urlError, part) : piece
    output.push(text)
    tail = tailOf(tail, text)
  }
  const rendered = output.join('')
  if (rendered.length <= TEMPLATE_LIMITS.output) return rendered
  throw new TemplateError('html', part.source, 0, sentence('field.template_output', { limit: TEMPLATE_LIMITS.output }))
}

/** Longest beginning of a character reference. */
const TAIL = 40

/** The end of an output after another piece. */
export function tailOf(tail: string, piece: string): string {
  return (tail + piece.slice(-TAIL)).slice(-TAIL)
}

/** The text with a mark in the place of each value. */
export function withMarks(pieces: Pieces): string {
  let index = 0
  return pieces.map(piece => (piece instanceof Inserted ? markOf(index++) : piece)).join('')
}

type UrlPlace = Extract<Place, { kind: 'url' }>

function escapeFor(
  place: Place | undefined,
  { value, offset }: Inserted,
  tail: string,
  urlError: (place: UrlPlace) => Sentence | undefined,
  { source }: ParsedPart,
): string {
  const error =
    findPlaceError(place, tail) ??
    (place?.kind === 'url' ? urlError(place) : undefined) ??
    (place?.kind === 'style' && !STYLE_VALUE.test(value) ? sentence('field.template_style') : undefined)
  if (error) throw new TemplateError('html', source, offset, error)
  return isInReference(tail) ? escapeAll(value) : escapeHtml(value)
}

/** Why no value may stand at a place after this output; undefined when one may. */
export function findPlaceError(place: Place | undefined, tail: string): Sentence | undefined {
  // A letter after "<" would begin a tag.
  if (!place || (place.kind === 'text' && tail.endsWith('<'))) return sentence('field.template_place')
  return place.kind === 'refused' ? place.reason : undefined
}
