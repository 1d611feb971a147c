#!/usr/bin/env node
/** `postwright`: the command line. Exit codes: 0 done, 1 failed, 2 wrong usage. */
import { VERSION } from '../generated/version.ts'
import { type Command, parse, UsageError } from './command.ts'
import { domains } from './commands/domains.ts'
import { explain } from './commands/explain.ts'
import { login, logout } from './commands/login.ts'
import { messages } from './commands/messages.ts'
import { send } from './commands/send.ts'
import { tail } from './commands/tail.ts'
import { describeError } from './describe-error.ts'
import { openSession } from './session.ts'

const COMMANDS: readonly Command[] = [login, logout, send, messages, explain, tail, domains]

const HELP = `postwright: send mail, and see what became of it.

Usage: postwright <command> [options]

${COMMANDS.map(({ name, summary }) => `  ${name.padEnd(10)} ${summary}`).join('\n')}
  help       Show the options of a command: postwright help send

Every command has --json (one JSON object, or one a line for lists), --lang (language of
messages where the service has several, as in zh-CN) and --help.

The address and the token come from "postwright login", or from the environment variables
POSTWRIGHT_URL and POSTWRIGHT_TOKEN. Exit codes: 0 done, 1 failed, 2 wrong usage.
`

// A reader that ends early, as in "postwright messages | head", is no failure.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  process.exit(error.code === 'EPIPE' ? 0 : 1)
})
process.exitCode = await main(process.argv.slice(2))

async function main([name = 'help', ...args]: readonly string[]): Promise<number> {
  if (name === '--version' || name === '-v') return print(`${VERSION}\n`)
  if (name === 'help' || name === '--help' || name === '-h') {
    const asked = COMMANDS.find(command => command.name === args[0])
    if (args[0] === undefined || asked) return print(asked?.help ?? HELP)
    return misuse(`There is no command "${args[0]}".`, 'postwright help')
  }
  const command = COMMANDS.find(one => one.name === name)
  if (!command) return misuse(`There is no command "${name}".`, 'postwright help')
  if (args.includes('--help') || args.includes('-h')) return print(command.help)
  return run(command, args)
}

async function run(command: Command, args: readonly string[]): Promise<number> {
  const json = args.includes('--json')
  try {
    const parsed = parse(command, args)
    return await command.run(parsed, openSession({ json, lang: parsed.values.lang as string | undefined }))
  } catch (error) {
    if (error instanceof UsageError) return misuse(error.message, `postwright help ${command.name}`)
    process.stderr.write(describeError(error, json))
    return 1
  }
}

function print(text: string): number {
  process.stdout.write(text)
  return 0
}

function misuse(reason: string, help: string): number {
  process.stderr.write(`${reason}\nSee "${help}".\n`)
  return 2
}
