/** The variables that a template reads. */
import { Filter, ForTag, type Template, type Token, TypeGuards, Value } from 'liquidjs'
import { branchesOf } from './engine.ts'

/** A variable in an expression. */
export interface UsedVariable {
  name: string
  /** Index into the source. */
  offset: number
}

/** The variables that are neither declared nor made by a loop around them, in the order of the source. */
export function findUndeclared(nodes: readonly Template[], declared: ReadonlySet<string>): UsedVariable[] {
  return nodes.flatMap(node => {
    const own = [...argumentsOf(node)].flatMap(variablesIn).filter(({ name }) => !declared.has(name))
    const inner = node instanceof ForTag ? new Set([...declared, node.variable, 'forloop']) : declared
    return [...own, ...branchesOf(node).flatMap(branch => findUndeclared(branch, inner))]
  })
}

function* argumentsOf(node: Template): Iterable<unknown> {
  if (node.arguments) yield* node.arguments()
}

function variablesIn(given: unknown): UsedVariable[] {
  if (given instanceof Value) return [...given.initial.postfix, ...given.filters].flatMap(variablesIn)
  if (given instanceof Filter) return given.args.flatMap(arg => variablesIn(Array.isArray(arg) ? arg[1] : arg))
  if (TypeGuards.isRangeToken(given)) return [given.lhs, given.rhs].flatMap(variablesIn)
  if (!TypeGuards.isPropertyAccessToken(given)) return []
  const [first, ...rest] = given.props
  const inner = [...(given.variable ? [given.variable, first] : []), ...rest].flatMap(variablesIn)
  if (given.variable || !first) return inner
  return [{ name: nameOf(first), offset: given.begin }, ...inner]
}

function nameOf(token: Token): string {
  return TypeGuards.isQuotedToken(token) || TypeGuards.isWordToken(token) ? token.content : token.getText()
}
