/** Requests a sign-in link for the address, reads the link from standard input and follows it. */
import { text } from 'node:stream/consumers'
import { auth } from './better-auth.mjs'

await auth.api.signInMagicLink({ body: { email: process.argv[2] }, headers: new Headers() })
const link = (await text(process.stdin)).trim()
const response = await auth.handler(new Request(link))
process.stdout.write(response.headers.get('set-cookie') ?? String(response.status))
