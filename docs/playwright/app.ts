/** A tiny application that signs users up by mail. Node 24 runs it: `node app.ts`. */
import { randomInt, randomUUID } from 'node:crypto'
import { createServer } from 'node:http'

const { POSTWRIGHT_URL, POSTWRIGHT_DOMAIN, POSTWRIGHT_TOKEN, APP_PORT } = process.env
const address = `http://127.0.0.1:${APP_PORT}`

/** Users that have not confirmed their address, by the token of their link. */
const waiting = new Map<string, { email: string; code: string }>()

async function sendMail(email: string, token: string, code: string) {
  const link = `${address}/confirm?${new URLSearchParams({ token, code })}`
  const response = await fetch(`${POSTWRIGHT_URL}/api/v1/emails`, {
    method: 'POST',
    headers: { authorization: `Bearer ${POSTWRIGHT_TOKEN}`, 'content-type': 'application/json' },
    body: JSON.stringify({
      from: `Tiny App <hello@${POSTWRIGHT_DOMAIN}>`,
      to: email,
      subject: 'Confirm your address',
      text: `Your code is ${code}. Or open ${link}`,
      html: `<p>Your code is <b>${code}</b>. Or: <a href="${link.replaceAll('&', '&amp;')}">Confirm your address</a></p>`,
    }),
  })
  if (!response.ok) throw new Error(await response.text())
}

const escapeHtml = (text: string) => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;')

async function answer(url: URL): Promise<string> {
  const [email, token, code] = ['email', 'token', 'code'].map(name => url.searchParams.get(name) ?? '')
  if (url.pathname === '/sign-up' && email) {
    const [newToken, newCode] = [randomUUID(), String(randomInt(100_000, 1_000_000))]
    waiting.set(newToken, { email, code: newCode })
    await sendMail(email, newToken, newCode)
    return `<h1>Look into your mail</h1><form action="/confirm"><input type="hidden" name="token" value="${newToken}">
      <label>Code <input name="code"></label><button>Confirm</button></form>`
  }
  if (url.pathname === '/confirm') {
    const user = waiting.get(token ?? '')
    return user?.code === code ? `<h1>Welcome, ${escapeHtml(user?.email ?? '')}</h1>` : '<h1>The code is wrong</h1>'
  }
  return '<h1>Tiny App</h1><form action="/sign-up"><label>Email <input name="email"></label><button>Sign up</button></form>'
}

createServer((request, response) => {
  response.setHeader('content-type', 'text/html; charset=utf-8')
  answer(new URL(request.url ?? '/', address)).then(
    page => response.end(`<!doctype html><title>Tiny App</title>${page}`),
    error => response.writeHead(500).end(String(error)),
  )
}).listen(Number(APP_PORT), '127.0.0.1')
