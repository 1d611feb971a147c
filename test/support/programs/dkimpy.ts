/** dkimpy, a DKIM verifier in Python, as an independent verification of our signatures. */
import { execFileSync } from 'node:child_process'
import { aptInstall, MissingProgram } from './missing-program.ts'
import { everyProgram } from './programs.ts'
import { runPython } from './python.ts'

/** Prints the results of each message, one per DKIM-Signature field. Reads `{messages: [base64], records: {name: value}}`. */
const SCRIPT = `
import base64, dkim, json, sys
given = json.load(sys.stdin)
records = {name.encode(): value.encode() for name, value in given["records"].items()}
find = lambda name, timeout=5: records.get(name.rstrip(b"."))
def verdict(message, index):
    try:
        return "pass" if dkim.DKIM(message).verify(index, find) else "fail"
    except dkim.DKIMException as error:
        return "error: %s" % error
def verdicts(message):
    count = sum(1 for name, _ in dkim.rfc822_parse(message)[0] if name.lower() == b"dkim-signature")
    return [verdict(message, index) for index in range(count)]
json.dump([verdicts(base64.b64decode(message)) for message in given["messages"]], sys.stdout)
`

/** The first Python that knows dkimpy: Debian puts it into its own, which need not be the first on PATH. */
const python = everyProgram('python3').find(path => {
  try {
    execFileSync(path, ['-c', 'import dkim, nacl'], { stdio: 'ignore' })
    return true
  } catch {
    return false
  }
})

/** dkimpy's result for each signature of each message. `records`: TXT values by name. */
export async function dkimpyVerdicts(
  messages: readonly Buffer[],
  records: Readonly<Record<string, string>>,
): Promise<string[][]> {
  if (!python) throw new MissingProgram('dkimpy is not installed', aptInstall('python3 python3-dkim python3-nacl'))
  const given = JSON.stringify({ messages: messages.map(message => message.toString('base64')), records })
  return JSON.parse(await runPython(SCRIPT, given, python))
}
