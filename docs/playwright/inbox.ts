/** Reads the inbox of a Postwright domain in tests. */
const { POSTWRIGHT_URL = '', POSTWRIGHT_DOMAIN = '', POSTWRIGHT_TOKEN = '' } = process.env

interface Mail {
  id: string
  subject: string
  text: string | null
  html: string | null
  links: { href: string; text: string }[]
  codes: string[]
}

async function get<T>(path: string): Promise<T> {
  const response = await fetch(`${POSTWRIGHT_URL}/api/v1/domains/${POSTWRIGHT_DOMAIN}/inbox/messages${path}`, {
    headers: { authorization: `Bearer ${POSTWRIGHT_TOKEN}` },
  })
  if (!response.ok) throw new Error(`the inbox answered ${response.status}: ${await response.text()}`)
  return (await response.json()) as T
}

/** The newest message for an address. Waits up to a minute for it. */
export async function waitForMail(to: string, subject: string): Promise<Mail> {
  const { data } = await get<{ data: Mail[] }>(`?${new URLSearchParams({ to, subject, wait: '60', limit: '1' })}`)
  const [newest] = data
  if (!newest) throw new Error(`no mail "${subject}" for ${to} within a minute`)
  return get(`/${newest.id}`)
}
