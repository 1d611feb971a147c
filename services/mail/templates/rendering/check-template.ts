/** Finds what is wrong with a template before it is stored: syntax, variables nobody declared, places without escaping. */
import { Output, type Template, TypeGuards } from 'liquidjs'
import type { FieldError } from '../../../platform/sentences/field-error.ts'
import { sentence } from '../../../platform/sentences/sentence.ts'
import { branchesOf, Inserted, type ParsedPart, parsePart } from './engine.ts'
import { findPlaces } from './html-contexts.ts'
import { findPlaceError, type TemplateContent, tailOf, withMarks } from './render-template.ts'
import { TemplateError } from './template-error.ts'
import { findUndeclared } from './used-variables.ts'

/** Most readings of an html part: each takes other branches. What they leave out is found when it is rendered. */
const READINGS = 20
/** Most errors of one part. */
const MAX_ERRORS = 10

/** Errors of the parts, with line and column; the first ones of each part. */
export async function findTemplateErrors(content: TemplateContent): Promise<FieldError[]> {
  const declared = new Set(content.variables.map(({ key }) => key))
  const errors: FieldError[] = []
  for (const part of ['subject', 'html', 'text'] as const) {
    const source = content[part]
    if (source === undefined) continue
    const found = await findPartErrors(() => parsePart(part, source), declared)
    for (const error of found.slice(0, MAX_ERRORS))
      errors.push({ pointer: `/${part}`, reason: error.sentence, code: 'template' })
  }
  return errors
}

async function findPartErrors(parse: () => ParsedPart, declared: ReadonlySet<string>): Promise<TemplateError[]> {
  try {
    const part = parse()
    const undeclared = findUndeclared(part.nodes, declared).map(
      ({ name, offset }) =>
        new TemplateError(part.part, part.source, offset, sentence('field.template_variable', { name })),
    )
    return [...undeclared, ...(part.part === 'html' ? await findPlaceErrors(part) : [])]
  } catch (error) {
    if (error instanceof TemplateError) return [error]
    throw error
  }
}

/** Reads the part several times, each time with branches that have outputs which were not read before. */
async function findPlaceErrors({ part, source, nodes }: ParsedPart): Promise<TemplateError[]> {
  const seen = new Set<Template>()
  const errors = new Map<number, TemplateError>()
  for (let reading = 0; reading < READINGS; reading++) {
    const before = seen.size
    const pieces: (string | Inserted)[] = []
    read(nodes, seen, pieces)
    if (seen.size === before && reading > 0) break
    const places = await findPlaces(withMarks(pieces))
    let index = 0
    let tail = ''
    for (const piece of pieces) {
      if (!(piece instanceof Inserted)) {
        tail = tailOf(tail, piece)
        continue
      }
      const reason = findPlaceError(places.get(index++), tail)
      if (reason && errors.size < MAX_ERRORS)
        errors.set(piece.offset, new TemplateError(part, source, piece.offset, reason))
    }
  }
  return [...errors.values()]
}

function read(nodes: readonly Template[], seen: Set<Template>, pieces: (string | Inserted)[]): void {
  for (const node of nodes) {
    if (node instanceof Output) {
      seen.add(node)
      pieces.push(new Inserted('', node.token.begin))
    } else if (TypeGuards.isHTMLToken(node.token)) pieces.push(node.token.getContent())
    else {
      const branches = branchesOf(node)
      const next = branches.find(branch => hasUnseen(branch, seen)) ?? branches[0]
      if (next) read(next, seen, pieces)
    }
  }
}

function hasUnseen(nodes: readonly Template[], seen: ReadonlySet<Template>): boolean {
  return nodes.some(node =>
    node instanceof Output ? !seen.has(node) : branchesOf(node).some(branch => hasUnseen(branch, seen)),
  )
}
