/**
 * LiquidJS reduced to what mail needs (ADR 91): no files, no capture or assignment, no raw output, own properties only.
 * A rendering is a list of pieces, so that what came from a variable is still known when it is escaped.
 */
import {
  BreakTag,
  CaseTag,
  CommentTag,
  Context,
  ContinueTag,
  type Emitter,
  ForTag,
  IfTag,
  InlineCommentTag,
  Liquid,
  LiquidError,
  Output,
  Parser,
  type TagToken,
  type Template,
  Tokenizer,
  type TopLevelToken,
  TypeGuards,
  toValueSync,
  UnlessTag,
} from 'liquidjs'
import { type Sentence, SentenceError, sentence } from '../../../platform/sentences/sentence.ts'
import { TEMPLATE_LIMITS } from '../rules/template-limits.ts'
import type { TemplateValues } from '../rules/template-values.ts'
import { MARK_CHARACTERS } from './html-contexts.ts'
import { type Part, TemplateError } from './template-error.ts'

/** A value of a variable in the output, not escaped yet. */
export class Inserted {
  readonly value: string
  /** Where the template outputs it: an index into the source. */
  readonly offset: number
  constructor(value: string, offset: number) {
    this.value = value
    this.offset = offset
  }
}

/** A rendering in order: text of the template, and what came from variables. */
export type Pieces = readonly (string | Inserted)[]

/** A parsed part of a template. */
export interface ParsedPart {
  part: Part
  source: string
  nodes: Template[]
}

/** Filters that allocate in proportion to their input and are charged for it. */
export const FILTERS: ReadonlySet<string> = new Set([
  ...['capitalize', 'default', 'divided_by', 'downcase', 'join', 'minus', 'plus', 'round', 'size', 'strip', 'times'],
  ...['truncate', 'upcase', 'url_encode'],
])

/** Register of a rendering that counts its steps. */
const STEPS = 'steps'

/** Unlike that of LiquidJS it is charged for what it allocates, and takes text that is not well-formed. */
function urlEncode(this: { context: Context }, value: unknown): string {
  const encoded = encodeURIComponent(textOf(value).toWellFormed())
  this.context.memoryLimit.use(encoded.length)
  return encoded
}

/** A loop that charges the steps of a repetition before it. */
class CountedForTag extends ForTag {
  constructor(token: TagToken, rest: TopLevelToken[], liquid: Liquid, parser: Parser) {
    super(token, rest, liquid, parser)
    const steps = 1 + countSteps(this.templates)
    const render = (context: Context) => charge(context, steps)
    this.templates.unshift({ token, render } as unknown as Template)
  }
}

const TAGS = {
  if: IfTag,
  unless: UnlessTag,
  case: CaseTag,
  for: CountedForTag,
  break: BreakTag,
  continue: ContinueTag,
  comment: CommentTag,
  '#': InlineCommentTag,
}

const liquid = createEngine()

function createEngine(): Liquid {
  const engine = new Liquid({
    strictFilters: true,
    ownPropertyOnly: true,
    memoryLimit: TEMPLATE_LIMITS.memory,
    renderLimit: TEMPLATE_LIMITS.renderMs,
    templates: {}, // no file system
  })
  for (const name of Object.keys(engine.tags)) delete engine.tags[name]
  for (const [name, tag] of Object.entries(TAGS)) engine.registerTag(name, tag)
  for (const name of Object.keys(engine.filters)) if (!FILTERS.has(name)) delete engine.filters[name]
  engine.registerFilter('url_encode', urlEncode)
  return engine
}

/** Parses a part. Throws {@link TemplateError}. */
export function parsePart(part: Part, source: string): ParsedPart {
  try {
    const tokens = new Tokenizer(source, liquid.options.operators).readTopLevelTokens(liquid.options)
    refuseCharacters(part, source)
    refuseTooMuch(part, source, tokens)
    const nodes = new Parser(liquid).parseTokens(tokens)
    markOutputs(nodes)
    return { part, source, nodes }
  } catch (error) {
    throw toTemplateError(part, source, error)
  }
}

/** The pieces of a part with these values. Throws {@link TemplateError}. */
export function renderPart({ part, source, nodes }: ParsedPart, values: TemplateValues): Pieces {
  const emitter = new PiecesEmitter()
  try {
    const context = new Context(values, liquid.options, { sync: true })
    charge(context, countSteps(nodes))
    toValueSync(liquid.renderer.renderTemplates(nodes, context, emitter))
    return emitter.pieces
  } catch (error) {
    throw toTemplateError(part, source, error)
  }
}

/** The nodes inside a node, in the alternatives of which a rendering takes one; none for text and outputs. */
export function branchesOf(node: Template): Template[][] {
  if (node instanceof IfTag || node instanceof UnlessTag || node instanceof CaseTag)
    return [...node.branches.map(({ templates }) => templates), node.elseTemplates ?? []]
  return node instanceof ForTag ? [node.templates, node.elseTemplates] : []
}

/** Collects pieces, and ends a rendering that grows too large. */
class PiecesEmitter implements Emitter {
  readonly pieces: (string | Inserted)[] = []
  readonly buffer = ''
  private size = 0
  write(piece: unknown): void {
    const given = piece instanceof Inserted ? piece : String(piece)
    this.size += given instanceof Inserted ? given.value.length : given.length
    if (this.size > TEMPLATE_LIMITS.output)
      throw new SentenceError(sentence('field.template_output', { limit: TEMPLATE_LIMITS.output }))
    this.pieces.push(given)
  }
}

/** Outputs write what they insert instead of a text. */
function markOutputs(nodes: readonly Template[]): void {
  for (const node of nodes) {
    for (const branch of branchesOf(node)) markOutputs(branch)
    if (!(node instanceof Output)) continue
    const { value, token } = node
    node.render = function* (context: Context, emitter: Emitter): IterableIterator<unknown> {
      const found: unknown = yield value.value(context, false)
      emitter.write(new Inserted(textOf(found), token.begin))
    }
  }
}

function textOf(value: unknown): string {
  if (value === undefined || value === null) return ''
  if (typeof value === 'object') throw new SentenceError(sentence('field.template_list_output'))
  return String(value)
}

/** What one run through these nodes costs, in steps: by their number and the length of their expressions. */
function countSteps(nodes: readonly Template[]): number {
  return nodes.reduce((sum, node) => {
    const inner = branchesOf(node).reduce((steps, branch) => steps + countSteps(branch), 0)
    const expressions = [node.token, ...conditionsOf(node)].reduce((length, { begin, end }) => length + end - begin, 0)
    return sum + 1 + inner + (node instanceof Output || inner > 0 ? expressions >> 4 : 0)
  }, 0)
}

/** The expressions of `elsif` and `when`, which are no part of the token of their tag. */
function conditionsOf(node: Template): readonly { begin: number; end: number }[] {
  if (node instanceof CaseTag) return node.branches.flatMap(({ values }) => values)
  return node instanceof IfTag || node instanceof UnlessTag
    ? node.branches.flatMap(({ value }) => value.initial.postfix)
    : []
}

function charge(context: Context, steps: number): void {
  const used = Number(context.getRegister(STEPS, 0)) + steps
  if (used > TEMPLATE_LIMITS.steps)
    throw new SentenceError(sentence('field.template_steps', { limit: TEMPLATE_LIMITS.steps }))
  context.setRegister(STEPS, used)
}

function refuseCharacters(part: Part, source: string): void {
  const mark = MARK_CHARACTERS.exec(source)
  if (mark) throw new TemplateError(part, source, mark.index, sentence('field.template_character'))
}

/** Bounds the work of the parser: it is not linear in the length of an expression. */
function refuseTooMuch(part: Part, source: string, tokens: readonly TopLevelToken[]): void {
  const { tags, expression } = TEMPLATE_LIMITS
  const inner = tokens.filter(token => !TypeGuards.isHTMLToken(token))
  const last = inner[tags]
  if (last) throw new TemplateError(part, source, last.begin, sentence('field.template_tags', { limit: tags }))
  const long = inner.find(({ begin, end }) => end - begin > expression)
  if (long)
    throw new TemplateError(part, source, long.begin, sentence('field.template_tag_length', { limit: expression }))
}

function toTemplateError(part: Part, source: string, error: unknown): Error {
  if (error instanceof TemplateError) return error
  if (error instanceof RangeError) return new TemplateError(part, source, 0, sentence('field.template_depth'))
  if (!LiquidError.is(error)) return error as Error
  const { originalError, token } = error as unknown as { originalError?: unknown; token?: { begin: number } }
  const reason = originalError instanceof SentenceError ? originalError.sentence : reasonOf(error as unknown as Error)
  return new TemplateError(part, source, token?.begin ?? 0, reason)
}

/** Messages of LiquidJS that people meet, in words that say what to do; others as they are. */
function reasonOf({ message }: Error): Sentence {
  const text = message.replace(/, line:\d+, col:\d+.*$/s, '').slice(0, 200)
  const name = /^(?:tag "(?<tag>[^"]*)" not found|undefined filter: (?<filter>.*))$/.exec(text)?.groups
  if (name?.tag !== undefined)
    return sentence('field.template_tag', { name: name.tag, tags: Object.keys(TAGS).filter(tag => tag !== '#') })
  if (name?.filter !== undefined)
    return sentence('field.template_filter', { name: name.filter, filters: [...FILTERS].toSorted() })
  // The parser calls itself for tags inside of tags.
  if (/call stack/.test(text)) return sentence('field.template_depth')
  if (/not closed/.test(text)) return sentence('field.template_not_closed', { text })
  if (/(?:memory alloc|template render) limit exceeded/.test(text)) return sentence('field.template_memory')
  return sentence('field.template_syntax', { text })
}
