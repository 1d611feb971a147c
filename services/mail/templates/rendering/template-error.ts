/** An error of a template, with its place. */
import { type Sentence, SentenceError, sentence } from '../../../platform/sentences/sentence.ts'

/** The parts of a template. */
export type Part = 'subject' | 'html' | 'text'

/** Line and column, both from 1. */
interface Place {
  line: number
  column: number
}

/** A part that cannot be parsed or rendered. */
export class TemplateError extends SentenceError {
  readonly part: Part
  constructor(part: Part, source: string, offset: number, reason: Sentence) {
    super(sentence('field.template_at', { ...placeOf(source, offset), reason }))
    this.part = part
  }
}

/** The place of a character of a text. */
function placeOf(source: string, offset: number): Place {
  const before = source.slice(0, offset)
  const start = before.lastIndexOf('\n') + 1
  let line = 1
  for (let at = before.indexOf('\n'); at !== -1; at = before.indexOf('\n', at + 1)) line++
  return { line, column: before.length - start + 1 }
}
