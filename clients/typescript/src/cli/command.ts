/** Commands, and the reading of their arguments. */
import { type ParseArgsConfig, parseArgs } from 'node:util'
import type { Session } from './session.ts'

type Options = NonNullable<ParseArgsConfig['options']>

/** A command of the command line. */
export interface Command {
  name: string
  /** One line for the list of commands. */
  summary: string
  /** Everything that `--help` prints. */
  help: string
  options: Options
  /** Names of the arguments without a dash, in their order; one in brackets may be missing. */
  positionals: readonly string[]
  /** Returns the exit code. */
  run(parsed: Parsed, session: Session): Promise<number>
}

/** Arguments of a command. */
export interface Parsed {
  values: Record<string, string | boolean | (string | boolean)[] | undefined>
  positionals: string[]
}

/** Wrong arguments: exit code 2. */
export class UsageError extends Error {}

const COMMON: Options = { json: { type: 'boolean' }, lang: { type: 'string' }, help: { type: 'boolean', short: 'h' } }

/** Reads the arguments; throws a {@link UsageError}. */
export function parse({ options, positionals: names }: Command, args: readonly string[]): Parsed {
  // Checked before: the error of parseArgs would not say why there is no such option.
  if (args.some(arg => /^--(token|password)\b/.test(arg)))
    throw new UsageError(
      'A token is never an argument: other users of this machine could read it. Give it on stdin, or in POSTWRIGHT_TOKEN.',
    )
  const parsed = parsedBy(options, args)
  const required = names.filter(name => !name.startsWith('['))
  if (parsed.positionals.length < required.length)
    throw new UsageError(`The argument ${required[parsed.positionals.length]} is missing.`)
  if (parsed.positionals.length > names.length)
    throw new UsageError(`The argument "${parsed.positionals[names.length]}" is one too many.`)
  return parsed
}

function parsedBy(options: Options, args: readonly string[]): Parsed {
  try {
    return parseArgs({ args: [...args], options: { ...options, ...COMMON }, allowPositionals: true }) as Parsed
  } catch (error) {
    throw new UsageError((error as Error).message.replace(/\. To specify.*$/s, '.'))
  }
}

/** An option with one value. */
export function text({ values }: Parsed, name: string): string | undefined {
  const value = values[name]
  return typeof value === 'string' ? value : undefined
}

/** An option that can be given several times. */
export function texts({ values }: Parsed, name: string): string[] {
  const value = values[name]
  return Array.isArray(value) ? value.map(String) : []
}

/** An option that must be given. */
export function required(parsed: Parsed, name: string): string {
  const value = text(parsed, name)
  if (value === undefined) throw new UsageError(`The option --${name} is missing.`)
  return value
}

/** An option that is one of these words. */
export function choice<Word extends string>(parsed: Parsed, name: string, words: readonly Word[]): Word | undefined {
  const value = text(parsed, name)
  return value === undefined ? undefined : oneOf(words, name, value)
}

/** An option that can be given several times, each time as one of these words; undefined when it is not given. */
export function choices<Word extends string>(parsed: Parsed, name: string, words: readonly Word[]): Word[] | undefined {
  const values = texts(parsed, name)
  return values.length === 0 ? undefined : values.map(value => oneOf(words, name, value))
}

function oneOf<Word extends string>(words: readonly Word[], name: string, value: string): Word {
  const found = words.find(word => word === value)
  if (found === undefined) throw new UsageError(`--${name} must be one of ${words.join(', ')}; it is "${value}".`)
  return found
}

/** The options of a filter or a request that are given, by the name of the field. */
export function given<Field extends string>(parsed: Parsed, names: readonly Field[]): { [Name in Field]?: string } {
  const pairs = names.map(name => [name, text(parsed, name.replaceAll('_', '-'))])
  return Object.fromEntries(pairs.filter(([, value]) => value !== undefined))
}
