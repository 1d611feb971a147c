/** `postwright login` and `logout`. */
import { getLimits } from '../../generated/mail.ts'
import { PostwrightError } from '../../runtime/errors.ts'
import { type Command, text, UsageError } from '../command.ts'
import { removeLogin, storeLogin } from '../config.ts'
import { ask, readSecret } from '../stdin.ts'

export const login: Command = {
  name: 'login',
  summary: 'Store the address of the service and a token',
  help: `Usage: postwright login [--url ADDRESS] < token.txt

Stores the address and the token in $XDG_CONFIG_HOME/postwright/config.json, which only you can
read. The token is read from POSTWRIGHT_TOKEN, else from stdin; on a terminal it is asked for and
not shown. It is tried before it is stored. Make one in the panel under API tokens.

  --url ADDRESS   address of the panel and the API, as in https://mail.example.com
                  (default: POSTWRIGHT_URL)
`,
  options: { url: { type: 'string' } },
  positionals: [],
  async run(parsed, session) {
    const url =
      (text(parsed, 'url') ?? process.env.POSTWRIGHT_URL) || (process.stdin.isTTY ? await ask('Address: ') : '')
    if (url === '') throw new UsageError('The address is missing: give --url, or set POSTWRIGHT_URL.')
    if (!URL.canParse(url) || !/^https?:$/.test(new URL(url).protocol))
      throw new UsageError(`--url must be an address that begins with https://, not "${url}".`)
    const token = process.env.POSTWRIGHT_TOKEN || (await readSecret('Token: '))
    if (!/^[\x21-\x7e]{1,512}$/.test(token))
      throw new UsageError('The token is missing: give it on stdin, or in POSTWRIGHT_TOKEN.')
    if (url.startsWith('http:') && !/^(localhost|127\.\d+\.\d+\.\d+|\[::1\])$/.test(new URL(url).hostname))
      session.note('The address begins with http://: the token can be read on its way.')
    await getLimits(session.clientOf({ url, token })).catch(acceptOtherScopes)
    const path = await storeLogin(process.env, { url, token })
    if (session.json) session.data({ url, path })
    else session.say(`Logged in at ${url}; stored in ${path}.`)
    return 0
  },
}

export const logout: Command = {
  name: 'logout',
  summary: 'Remove the stored token',
  help: `Usage: postwright logout

Removes the stored address and token. The token stays valid: revoke it in the panel.
`,
  options: {},
  positionals: [],
  async run(_, session) {
    await removeLogin(process.env)
    if (session.json) session.data({ removed: true })
    else session.say('The login was removed. The token stays valid until it is revoked in the panel.')
    return 0
  },
}

/** A token that may only send is a good one. */
function acceptOtherScopes(error: unknown): void {
  if (!(error instanceof PostwrightError) || error.code !== 'insufficient_scope') throw error
}
